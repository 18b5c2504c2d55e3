#include "checkpoint/safetensors_writer.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace orfebre {
namespace {

constexpr size_t kMaxWriteBytes = size_t{1} << 30;

[[noreturn]] void fail_to_write(const std::string& path) {
  fail(ErrorKind::kBadCheckpoint, "{}: cannot write: {}", path, std::strerror(errno));
}

int create_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    fail_to_write(path);
  }
  return descriptor;
}

void write_all(int descriptor, const std::string& path, const void* source, size_t n_bytes) {
  const auto* from = static_cast<const char*>(source);
  while (n_bytes > 0) {
    const ssize_t done = ::write(descriptor, from, std::min(n_bytes, kMaxWriteBytes));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      fail_to_write(path);
    }
    from += done;
    n_bytes -= static_cast<size_t>(done);
  }
}

void sync_and_rename(int descriptor, const std::string& partial_path, const std::string& path) {
  if (::fsync(descriptor) != 0 || ::rename(partial_path.c_str(), path.c_str()) != 0) {
    fail_to_write(path);
  }
  sync_directory(std::filesystem::path(path).parent_path().string());
}

std::string header_text(const std::vector<TensorPlan>& plans) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "mlx"}};
  uint64_t position = 0;
  for (const TensorPlan& plan : plans) {
    const uint64_t end = position + plan_bytes(plan);
    header[plan.name] = {
        {"dtype", dtype_name(plan.dtype)}, {"shape", plan.shape}, {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data then starts at a multiple of 8
  return text;
}

}  // namespace

uint64_t plan_bytes(const TensorPlan& plan) {
  uint64_t size_bytes = dtype_bytes(plan.dtype);
  for (const int64_t dimension : plan.shape) {
    size_bytes *= static_cast<uint64_t>(dimension);
  }
  return size_bytes;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, const std::vector<TensorPlan>& plans)
    : path_(path), partial_path_(path + ".partial"), descriptor_(create_file(partial_path_)) {
  for (const TensorPlan& plan : plans) {
    expected_bytes_ += plan_bytes(plan);
  }
  const std::string header = header_text(plans);
  const uint64_t header_bytes = header.size();
  try {
    write_all(descriptor_, partial_path_, &header_bytes, sizeof(header_bytes));
    write_all(descriptor_, partial_path_, header.data(), header.size());
  } catch (...) {
    ::close(descriptor_);
    ::unlink(partial_path_.c_str());
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(partial_path_.c_str());
  }
}

void SafetensorsWriter::append(const void* source, size_t n_bytes) {
  ORFEBRE_CHECK(n_bytes <= expected_bytes_ - written_bytes_);
  write_all(descriptor_, partial_path_, source, n_bytes);
  written_bytes_ += n_bytes;
}

void SafetensorsWriter::finish() {
  ORFEBRE_CHECK(written_bytes_ == expected_bytes_);
  sync_and_rename(descriptor_, partial_path_, path_);
  ::close(descriptor_);
  descriptor_ = -1;
}

void write_file_atomically(const std::string& path, const std::string& content) {
  const std::string partial_path = path + ".partial";
  const int descriptor = create_file(partial_path);
  try {
    write_all(descriptor, partial_path, content.data(), content.size());
    sync_and_rename(descriptor, partial_path, path);
  } catch (...) {
    ::close(descriptor);
    ::unlink(partial_path.c_str());
    throw;
  }
  ::close(descriptor);
}

void sync_directory(const std::string& directory) {
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    fail_to_write(directory);
  }
  // Some file systems refuse fsync on directories; the rename itself has happened by now.
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

}  // namespace orfebre
