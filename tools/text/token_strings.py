"""The strings of the tokenizer fixtures: deterministic, every character assigned in Unicode 14."""
import random
import sys
import unicodedata

from real_tokenizer import added_tokens

PHRASES = """
The quick brown fox jumps over the lazy dog; it didn't stop, and we'll see why it's late.
El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío, ¡añoraba a su querido cachorro!
Où sont passées les clés de l'hôtel ? Je l'ai déjà demandé à l'accueil.
Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.
Quanto è bello passeggiare lungo il fiume quando c'è il sole, perché no?
À noite, vovô Kowalsky vê o ímã cair no pé do pinguim queixoso.
Pchnąć w tę łódź jeża lub ośm skrzyń fig.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Árvíztűrő tükörfúrógép, kérem szépen.
Съешь же ещё этих мягких французских булок, да выпей чаю.
Жебракують філософи при ґанку церкви в Гадячі, ще й шатро їхнє п'яне знаємо.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, και τώρα τι;
נוסף על כך, הילדים הלכו לבית הספר בְּרֵאשִׁית בָּרָא.
صِف خَلقَ خَودٍ كَمِثلِ الشَمسِ إِذ بَزَغَت، مرحبا بالعالم ١٢٣٤.
این یک جملهٔ فارسی است که نیم‌فاصله دارد؛ می‌خواهم.
ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले।
আমি বাংলায় গান গাই, তুমি কেমন আছো?
யாமறிந்த மொழிகளிலே தமிழ்மொழி போல் இனிதாவது எங்கும் காணோம்.
తెలుగు భాష చాలా మధురమైనది.
ಕನ್ನಡ ನಾಡು ಸುಂದರವಾಗಿದೆ.
മലയാളം എന്റെ മാതൃഭാഷയാണ്.
ਸਤ ਸ੍ਰੀ ਅਕਾਲ, ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?
ગુજરાતી ભાષા સરળ છે.
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน
ພາສາລາວແມ່ນພາສາທາງການ
ភាសាខ្មែរជាភាសាផ្លូវការ
မြန်မာဘာသာစကား ပြောတတ်လား။
རྒྱལ་པོའི་ཞལ་ནས།
ქართული ანბანი ძალიან ლამაზია.
Հայոց լեզուն շատ հին է։
ሰላም ለዓለም፣ እንዴት ናችሁ?
我能吞下玻璃而不伤身体。人力资源和社会保障部发布了公告。
天地玄黃，宇宙洪荒。日月盈昃，辰宿列張。
いろはにほへと ちりぬるを、コンピューター・プログラムがぱっとﾊﾝｶｸ。
키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.
Tiếng Việt có dấu: Trăm năm trong cõi người ta.
Pijamalı hasta yağız şoföre çabucak güvendi; İSTANBUL ılık ışık.
Kæmi ný öxi hér, ykist þjófum nú bæði víl og ádrepa.
ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ⲁⲃⲅ 𐌰𐌱𐌲 𓀀𓁐 𒀀𒁀
ߒߞߏ ⵜⴰⵎⴰⵣⵉⵖⵜ ދިވެހި ܫܠܡܐ ꯃꯩꯇꯩ ᜊᜌ᜔ᜊᜌᜒᜈ᜔ ᱥᱟᱱᱛᱟᱲ
∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β ≡ ¬(¬α ∨ β), ∑ᵢ₌₁ⁿ xᵢ² ≤ ∫₀^∞ e⁻ᵗ dt
Prices: €1,234.56 · £99 · ¥500 · ₹1.2L · 10% off — “quoted” ‘single’ … end
""".strip().split("\n")

CODE = [
    "def f(x: int) -> str:\n\treturn f\"{x!r}\"  # comment\n\n\nclass A(B):\n    pass\n",
    "#include <vector>\nint main() { std::vector<int> v{1,2,3}; return v[0] == 1 && !v.empty() ? 0 : -1; }\n",
    "fn main() {\r\n    println!(\"{:?}\", vec![0u8; 16]);\r\n}\r\n",
    "SELECT a.id, COUNT(*) FROM t AS a WHERE a.name LIKE '%x''y%' GROUP BY 1;",
    "<div class=\"a b\" id='c'>&nbsp;&#8364;<br/></div><!-- x -->",
    "{\"k\": [1, 2.5e-10, null, true], \"né\": \"\\u00e9\\n\"}",
    "if [[ -n \"$X\" ]]; then echo ${X:-y} | sed -E 's/(a+)b/\\1/g' >> out.txt 2>&1; fi",
    "const f = async (x) => { await g(x ?? 0); return `a${x}b`; };  // ok",
    "\\begin{align} \\frac{\\partial L}{\\partial x_{i}} &= \\sum_{j}^{n} w_{ij} \\\\ \\end{align}",
    "0x7fFF_0000 1e-9 3.14159f 0b1010 1_000_000 #ff00aa 192.168.0.1:8080 v1.2.3-rc.4+build",
    "    \t  mixed\n\t\tindent\n        deep = (((((a)))))\n}\n});\n",
    "https://example.org/a/b?c=d&e=%20f#g user.name+tag@example.co.uk C:\\dir\\file.txt ~/x/../y",
    "| a | b |\n|---|:-:|\n| **x** | `y` |\n\n- [ ] todo\n1. one\n> quote\n```py\nx\n```",
]

SPACES = ["\t", "\n", "\x0b", "\x0c", "\r", " ", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u180e", "\u2000",
          "\u2003", "\u2009", "\u200a", "\u200b", "\u200d", "\u2028", "\u2029", "\u202f", "\u205f", "\u2060",
          "\u3000", "\ufeff"]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇪🇸", "🇯🇵", "❤️", "☺︎", "1️⃣", "🧑🏿‍🚀", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "⚡", "🀄", "🫠"]
CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'Ve", "'m", "'ll", "'LL", "'d", "'ſ", "'ſs", "’s", "'x", "''s", "'K"]
WORDS = ("time year people way day man thing woman life child world school state family student group country "
         "problem hand part place case week company system program question work government number night point "
         "home water room mother area money story fact month lot right study book eye job word business issue side "
         "tiempo persona año gobierno día hombre parte niño lugar caso mujer país trabajo Überraschung naïve").split()
# In the real vocabulary, but out of the merges' reach: an encoder that looks whole words up first gets them wrong.
UNREACHABLE = """人力资源 俱乐部 毛泽东 加拿大 新加坡 学一做 全心全意为 各种各样的 两学一做 拥有一支 为了解决 毛泽东思想 足球俱乐部 สัม матри вляется
 треб популяр является документа фактор факты Kaffee penerbangan derrota möglicherweise accesorios giuridica dikkat melanjutkan
 المصري نسبة السبب أسبوع سكندرية อสังหาริมทรัพย์ いっぱい""".split()
# Text whose NFC differs from it: singletons, decomposed letters, jamo, wrong mark order, excluded compositions.
NOT_NFC = ["Å", "Ω", "K", "\u2000\u2001", "e\u0301", "a\u0323\u0302", "a\u0302\u0323", "\u1112\u1161\u11ab", "가\u11a8",
           "\u0958", "\u0915\u093c", "\u09c7\u09be", "\u0f42\u0fb7", "\ufb1d", "\u05e9\u05bc\u05c1", "か\u3099", "\u2adc",
           "豈", "\U0002f800", "o\u031b\u0301", "\u0344", "\u1f71", "\u212b\u0327", "q\u0307\u0323", "\u0d46\u0d3e",
           "\U000110a5\U000110ba", "\U0001d15e", "ñ", "n\u0303", "\u0065\u0301\u0301", "\u1e9b\u0323", "\u0387", "\u037e"]


def characters(predicate):
    return [chr(c) for c in range(sys.maxunicode + 1)
            if not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn" and predicate(chr(c))]


def strings(seed=20):
    r = random.Random(seed)
    category = lambda prefix: characters(lambda c: unicodedata.category(c).startswith(prefix))
    letters, marks, numbers = category("L"), category("M"), category("N")
    others = characters(lambda c: unicodedata.category(c)[0] in "PSC" and unicodedata.category(c) != "Co")
    latin = [c for c in letters if ord(c) < 0x250]
    controls = [t["content"] for t in added_tokens()]
    some = lambda pool, low, high: "".join(r.choice(pool) for _ in range(r.randint(low, high)))
    words = lambda n: " ".join(r.choice(WORDS) for _ in range(n))
    out = ["", " ", "\n", "a", "\x00", "é", "\U0010fffd"]
    out += PHRASES + CODE
    for word in UNREACHABLE:
        out += [word, " " + word, f"{word}.", f"a {word}\n"]
    for phrase in PHRASES:  # pieces, cases, decomposed forms
        a, b = sorted((r.randrange(len(phrase)), r.randrange(len(phrase))))
        out += [phrase[a:b], phrase.upper(), unicodedata.normalize("NFD", phrase), " " + phrase[::-1], phrase * 3]
    for code in CODE:
        a, b = sorted((r.randrange(len(code)), r.randrange(len(code))))
        out += [code[a:b], code.replace("\n", "\r\n"), code.replace(" ", "  "), "  " + code + "\n\n\n"]
    for _ in range(250):
        out.append(some(SPACES, 1, 12) + r.choice(["", words(1), "."]) + some(SPACES, 0, 8) + r.choice(["", "x", "9"]))
    for _ in range(120):
        out.append("".join(r.choice(["\r", "\n", "\r\n", " ", "\t", "a", ".", "!\n", "}\r\n"])
                           for _ in range(r.randint(2, 20))))
    for _ in range(250):
        out.append("".join(r.choice(letters if r.random() < 0.5 else latin) + some(marks, 0, 4)
                           for _ in range(r.randint(1, 6))))
    for _ in range(150):
        out.append(r.choice(["", " ", "a", "x\n"]).join(r.choice(NOT_NFC) for _ in range(r.randint(1, 5)))
                   + some(marks, 0, 2))
    for _ in range(150):
        out.append("".join(r.choice([r.choice(EMOJI), words(1), " ", ".", "\u200d", "\ufe0f", "🏽"])
                           for _ in range(r.randint(1, 10))))
    for _ in range(120):
        out.append("".join(r.choice([str(r.randrange(10 ** r.randint(1, 12))), r.choice(numbers), ",", ".", " ", "-", "x"])
                           for _ in range(r.randint(1, 12))))
    for _ in range(300):
        near = [r.choice(controls), r.choice(controls)[:-1], r.choice(controls)[1:], "<" + r.choice(controls),
                r.choice(controls).upper(), r.choice(controls).replace("|", "| "), "<|", "|>", "\n", " ", words(1), "e\u0301"]
        out.append("".join(r.choice(near) for _ in range(r.randint(1, 9))))
    for _ in range(120):
        out.append("".join(words(1) + r.choice(CONTRACTIONS) + r.choice(["", " ", "s", "."]) for _ in range(r.randint(1, 5))))
    for _ in range(60):
        out.append(r.choice([some("abcdefghij", 100, 400), r.choice("aA=-_ #ж中") * r.randint(50, 300),
                             some(latin, 80, 200), some("ab", 100, 300), words(30).replace(" ", ""), some(letters, 50, 120)]))
    for _ in range(200):
        out.append(some(letters, 1, 8) + r.choice([" ", "", "\n"]) + some(others, 0, 4) + some(numbers, 0, 2))
    for _ in range(150):
        out.append(some(letters + marks + numbers + others + SPACES * 200, 1, 20))
    for _ in range(250):
        out.append((words(r.randint(3, 20)) + r.choice([". ", "? ", "!\n", "...", ": ", ", "]) + r.choice(PHRASES)[:40])
                   .capitalize())
    return out
