"""Pools of words and values used by every generator. Plain data; entities are split by hash (draw.py)."""

FIRST = """Ana Luis Marta Pedro Lucía Carlos Elena Javier Sofía Diego Carmen Pablo Laura Andrés Isabel Miguel Paula Jorge Raquel
Iván Nuria Tomás Clara Hugo Irene Óscar Julia Mario Silvia Rubén Alice Bob Carol David Emma Frank Grace Henry Ivy Jack Kate Liam
Mia Noah Olivia Peter Quinn Rose Sam Tina Uma Victor Wendy Xavier Yara Zoe Aisha Omar Fatima Yusuf Chen Mei Hiro Yuki Sven Ingrid
Lars Freya Ivo Petra Nils Greta Otto Heidi Marco Giulia Luca Chiara Pierre Camille Louis Manon Anya Boris Olga Dmitri Priya Arjun
Leila Karim Nadia Samir Zainab Kofi Ama Thabo Lerato Mateo Valentina Camila Bruno Thiago Beatriz Rafael Gabriel Daniel Martín
Eva Nora Leo Max Ben Tom Ella Lily Jane Mary John Paul George Ringo Simon Oscar Felix Stella Vera Alan Grace Ada Linus Ken
Dennis Brian Margaret Barbara Edith Harold Walter Agnes Ruth Esther Abel Caleb Joel Micah Silas""".split()
LAST = """García Pérez López Smith Jones Brown Taylor Wilson Müller Schmidt Rossi Bianchi Dubois Martin Novak Kowalski Silva Costa
Tanaka Suzuki Kim Park Nguyen Tran Singh Patel Khan Ali Hansen Berg Lind Ivanov Petrov Moreau Laurent Weber Fischer Romero Torres
Vargas Castro Ortega Navarro Iglesias Walker Hill Green Baker Carter Cook Bell Murphy Reed Foster""".split()
CITIES = """Paris Madrid London Berlin Rome Lisbon Vienna Athens Dublin Oslo Helsinki Warsaw Prague Budapest Brussels Amsterdam
Copenhagen Stockholm Zurich Geneva Milan Naples Venice Turin Barcelona Seville Valencia Bilbao Granada Malaga Toledo Porto Lyon
Marseille Nice Bordeaux Hamburg Munich Cologne Frankfurt Leipzig Tokyo Osaka Kyoto Seoul Busan Beijing Shanghai Taipei Bangkok
Hanoi Manila Jakarta Singapore Delhi Mumbai Chennai Karachi Lahore Dhaka Cairo Tunis Rabat Lagos Accra Nairobi Kampala Lima Quito
Bogota Caracas Santiago Montevideo Brasilia Havana Toronto Montreal Vancouver Boston Chicago Denver Seattle Portland Austin Dallas
Houston Miami Atlanta Phoenix Detroit Memphis Nashville Oakland Sydney Melbourne Perth Auckland Wellington Zaragoza Murcia Oviedo
Cusco Rosario Medellin Cali Monterrey Puebla Tijuana Cancun Leeds Bristol Glasgow Cardiff Belfast York Krakow Gdansk Brno Split
Zagreb Riga Vilnius Tallinn Sofia Varna Izmir Ankara Haifa Doha Dubai Muscat""".split()
NOUNS = """apple bread table chair window garden river mountain bottle camera ticket jacket guitar piano engine bridge island market
pencil basket candle carpet pillow mirror hammer ladder bucket blanket button coffee cookie cheese tomato potato onion carrot lemon
orange banana cherry melon peach pepper butter honey sugar flour pasta soup salad pizza burger sandwich bicycle train boat truck
motor wheel tire brake helmet glove boot scarf shirt dress belt ring watch clock phone laptop tablet printer keyboard mouse screen
speaker lamp fan heater fridge oven kettle toaster blender mixer sofa desk shelf drawer door roof wall floor stairs fence gate
tree flower grass leaf branch seed stone sand cloud storm snow forest desert lake ocean beach valley canyon castle tower temple
museum theater library school hospital bakery pharmacy hotel airport station harbor stadium factory farm ranch cabin tent lantern
compass map rope anchor sail drum violin flute trumpet harp puzzle kite doll robot rocket planet comet meteor crystal diamond
silver copper marble velvet cotton leather plastic paper ribbon needle thread ink brush canvas statue novel poem letter stamp""".split()
ADJECTIVES = """red blue green yellow black white purple silver golden small large tiny huge quick slow quiet loud bright dark warm cold
fresh dry wet soft hard smooth rough light heavy new old young modern classic simple fancy cheap royal brave calm clever eager
gentle happy honest jolly kind lucky merry noble proud rapid shiny silent sleepy smart steady strong sunny sweet swift tidy wild""".split()
NOUNS_ES = """manzana pan mesa silla ventana jardín río montaña botella cámara billete chaqueta guitarra motor puente isla mercado lápiz
cesta vela alfombra espejo martillo escalera cubo manta botón café queso tomate patata cebolla limón naranja plátano sopa ensalada
bicicleta tren barco camión rueda casco guante bota bufanda camisa vestido anillo reloj teléfono pantalla lámpara horno sofá puerta
tejado pared suelo árbol flor hierba hoja piedra arena nube tormenta nieve bosque desierto lago playa valle castillo torre museo
teatro biblioteca escuela hospital panadería farmacia hotel aeropuerto estación puerto estadio fábrica granja tienda mapa cuerda
tambor violín flauta cometa muñeca robot cohete cristal plata cobre papel aguja hilo tinta pincel novela carta sello""".split()
VERBS_EN = """walk run jump read write draw paint sing dance cook bake clean wash fix build open close move carry push pull drop throw
catch find lose buy sell send bring leave arrive wait start stop finish learn teach help visit travel sleep wake eat drink watch
listen speak call ask answer think know remember forget plan choose check count measure test save share""".split()
ADVERBS = "today tomorrow tonight now soon later early late again always never often here there slowly quickly quietly together alone".split()
PHRASES = """Meet me at the station|See you tomorrow at noon|The meeting is moved to Friday|Please call me back|Happy birthday to you
|Do not forget the keys|The package has arrived|Dinner is ready|I will be late today|Thanks for your help|The report is done
|Buy milk and bread|Remember to water the plants|The door is open|We won the game|Good luck with the exam|Bring your own lunch
|The train leaves at six|Check the front door|Your order is on its way|Let us talk on Monday|The server is down|All tests passed
|Review the draft before lunch|The printer is out of paper|Nos vemos mañana|La cena está lista|Llámame cuando llegues
|No olvides las llaves|El paquete ha llegado|Feliz cumpleaños|La reunión es a las tres|Gracias por tu ayuda|Compra leche y pan
|El tren sale a las seis|Mañana no hay clase|Todo está en orden|Riega las plantas|La puerta está abierta|Buena suerte""".replace("\n", "").split("|")
TOPICS = """the French revolution|black holes|quantum physics|the stock market|love|friendship|the sea|climate change|democracy
|artificial intelligence|the Roman empire|dinosaurs|ancient Egypt|modern art|jazz music|football tactics|vegan cooking|yoga
|the meaning of life|time travel|the immune system|vaccines|nuclear energy|solar panels|electric cars|the moon landing
|Shakespeare|Don Quixote|Greek mythology|the Cold War|inflation|cryptocurrency|blockchain|neural networks|photosynthesis
|plate tectonics|evolution|DNA|the human brain|insomnia|meditation|chess openings|the Olympics|tax law|contract law|philosophy
|Kant|Plato|Einstein|Napoleon|Cleopatra|Mozart|Beethoven|Picasso|Frida Kahlo|Marie Curie|Gandhi|volcanoes|earthquakes|tornadoes
|coral reefs|penguins|bees|wolves|the Amazon|the Sahara|Antarctica|space elevators|Mars colonies|robots|virtual reality|video games
|board games|knitting|gardening|woodworking|home brewing|wine|coffee roasting|sourdough|sushi|tango|flamenco|opera|ballet
|photography|film noir|westerns|science fiction|haiku|sonnets|grammar|linguistics|Esperanto|sign language|typography|architecture
|bridges|submarines|airplanes|railways|sailing|mountaineering|surfing|cycling|marathons|nutrition|diabetes|allergies|headaches
|parenting|education|retirement|mortgages|insurance|startups|marketing|negotiation|leadership|the printing press|the wheel
|steam engines|semiconductors|compilers|databases|operating systems|cloud computing|cybersecurity|privacy|ethics|free will""".replace("\n", "").split("|")
TOPICS_ES = """la revolución francesa|los agujeros negros|la física cuántica|la bolsa|el amor|la amistad|el mar|el cambio climático
|la democracia|la inteligencia artificial|el imperio romano|los dinosaurios|el antiguo Egipto|el arte moderno|el jazz|el fútbol
|la cocina vegana|el yoga|el sentido de la vida|los viajes en el tiempo|el sistema inmune|las vacunas|la energía nuclear
|los coches eléctricos|Shakespeare|el Quijote|la mitología griega|la guerra fría|la inflación|las criptomonedas|la fotosíntesis
|la evolución|el ADN|el cerebro humano|el insomnio|la meditación|el ajedrez|los Juegos Olímpicos|el derecho fiscal|la filosofía
|Kant|Platón|Einstein|Napoleón|Cleopatra|Mozart|Picasso|Marie Curie|los volcanes|los terremotos|los arrecifes|los pingüinos
|las abejas|los lobos|el Amazonas|la Antártida|los robots|los videojuegos|la jardinería|el vino|el tango|el flamenco|la ópera
|la fotografía|la ciencia ficción|los haikus|la gramática|la lingüística|la arquitectura|los submarinos|los aviones|el ciclismo
|los maratones|la nutrición|la diabetes|las alergias|la educación|la jubilación|las hipotecas|los seguros|el marketing
|el liderazgo|la imprenta|los semiconductores|las bases de datos|la ciberseguridad|la privacidad|la ética|el libre albedrío""".replace("\n", "").split("|")
SYLLABLES = """ba be bi bo bu ca co cu da de di do du fa fe fi fo ga go ha he ho ja jo ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no
nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we wi xa xo ya yo za ze zi zo bra cre dro fli gra klo plu
pri sta ste tri tro zan zor lin mar nel pol quin ras sen tor van wex yar blor fnar grim thal""".split()


def made_up(rng, low=2, high=3):
    """A pronounceable word that is in no dictionary."""
    word = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(low, high)))
    return word + rng.choice(["", "", "n", "r", "s", "x", "l"])


FUNCTION = """the a an of to in on at by for with from and or but not if then than as is are was be been has have do does did can will would
my your his her our their this that these those it he she they we you me him us them who what which where when why how all some any no one two
three first last next more most very too also just only still yet over under near after before de la el los las un una que y o en con por para
su sus mi tu es son fue ser no sí muy más pero como cuando donde todo nada hoy ayer mañana""".split()
CONTENT = sorted(set(NOUNS + NOUNS_ES + ADJECTIVES + VERBS_EN + CITIES + FIRST + LAST))
LEXICON = sorted(set(NOUNS + NOUNS_ES + ADJECTIVES + VERBS_EN + ADVERBS + FUNCTION + CITIES + FIRST + LAST))


def noise(rng):
    """A short string without any pattern, so that copying cannot lean on known words."""
    kind = rng.choice(["letters", "letters", "letters", "mixed", "digits", "accents"])
    letters = {"letters": "abcdefghijklmnopqrstuvwxyz", "mixed": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "digits": "0123456789", "accents": "aeiouáéíóúñübcdlmnrst"}[kind]
    word = "".join(rng.choice(letters) for _ in range(rng.randint(1, 8)))
    return word.capitalize() if kind == "letters" and rng.random() < 0.2 else word


def splice(rng):
    """Pieces of known words joined: the letters of language, in words that do not exist."""
    out = ""
    for _ in range(rng.randint(1, 3)):
        word = rng.choice(CONTENT)
        at = rng.randrange(max(1, len(word) - 2))
        out += word[at:at + rng.randint(2, 5)]
    return out.lower()


def salad(rng, low=1, high=8, small_words=True):
    """Words in no order: known ones, made-up ones and noise."""
    words = [rng.choice(LEXICON if small_words else CONTENT) if rng.random() < 0.6 else made_up(rng, 1, 3) if rng.random() < 0.4 else splice(rng) if rng.random() < 0.6 else noise(rng) for _ in range(rng.randint(low, high))]
    if rng.random() < 0.2:
        words[0] = words[0].capitalize()
    return " ".join(words)


def sentence(rng, lang="en"):
    """A short neutral sentence."""
    if lang == "es":
        a, b = rng.choice(NOUNS_ES), rng.choice(NOUNS_ES)
        return rng.choice(["Hay {a} y {b} en la casa.", "Compré {a} y también {b}.", "Ayer vi {a} cerca de {b}.",
                           "No encuentro {a}, pero tengo {b}."]).format(a=a, b=b)
    a, b = rng.choice(NOUNS), rng.choice(NOUNS)
    return rng.choice(["The {x} {a} is next to the {y} {b}.", "I saw a {x} {a} and a {b} {d}.", "We {v} the {a} with a {y} {b}.",
                       "There is a {a} in the {x} {b}.", "They {v} and {w} near the {a} {d}."]).format(
        a=a, b=b, x=rng.choice(ADJECTIVES), y=rng.choice(ADJECTIVES), v=rng.choice(VERBS_EN), w=rng.choice(VERBS_EN),
        d=rng.choice(ADVERBS))


def random_code(rng):
    """An identifier such as AB-1234."""
    letters = "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(rng.randint(1, 3)))
    return letters + rng.choice(["-", "", "_"]) + "".join(rng.choice("0123456789") for _ in range(rng.randint(2, 5)))
