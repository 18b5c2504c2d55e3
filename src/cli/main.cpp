// The program's entry: no command yet.
int main() {
  return 0;
}
