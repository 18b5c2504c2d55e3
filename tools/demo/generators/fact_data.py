"""The closed list of facts, English and Spanish. Plain data, one line a fact: en subject|en answer|es subject|es answer."""


def table(text):
    return [tuple(line.split("|")) for line in text.strip().splitlines()]


CAPITALS = table("""
France|Paris|Francia|París
Spain|Madrid|España|Madrid
Germany|Berlin|Alemania|Berlín
Italy|Rome|Italia|Roma
Portugal|Lisbon|Portugal|Lisboa
Austria|Vienna|Austria|Viena
Greece|Athens|Grecia|Atenas
Ireland|Dublin|Irlanda|Dublín
Norway|Oslo|Noruega|Oslo
Sweden|Stockholm|Suecia|Estocolmo
Finland|Helsinki|Finlandia|Helsinki
Denmark|Copenhagen|Dinamarca|Copenhague
Iceland|Reykjavik|Islandia|Reikiavik
Poland|Warsaw|Polonia|Varsovia
Hungary|Budapest|Hungría|Budapest
Romania|Bucharest|Rumania|Bucarest
Bulgaria|Sofia|Bulgaria|Sofía
Belgium|Brussels|Bélgica|Bruselas
Switzerland|Bern|Suiza|Berna
Croatia|Zagreb|Croacia|Zagreb
Serbia|Belgrade|Serbia|Belgrado
Ukraine|Kyiv|Ucrania|Kiev
Russia|Moscow|Rusia|Moscú
Turkey|Ankara|Turquía|Ankara
England|London|Inglaterra|Londres
Scotland|Edinburgh|Escocia|Edimburgo
Egypt|Cairo|Egipto|El Cairo
Morocco|Rabat|Marruecos|Rabat
Tunisia|Tunis|Túnez|Túnez
Kenya|Nairobi|Kenia|Nairobi
Ghana|Accra|Ghana|Acra
Senegal|Dakar|Senegal|Dakar
Nigeria|Abuja|Nigeria|Abuya
Ethiopia|Addis Ababa|Etiopía|Adís Abeba
Israel|Jerusalem|Israel|Jerusalén
Lebanon|Beirut|Líbano|Beirut
Iraq|Baghdad|Irak|Bagdad
Iran|Tehran|Irán|Teherán
India|New Delhi|India|Nueva Delhi
Pakistan|Islamabad|Pakistán|Islamabad
China|Beijing|China|Pekín
Japan|Tokyo|Japón|Tokio
South Korea|Seoul|Corea del Sur|Seúl
Thailand|Bangkok|Tailandia|Bangkok
Vietnam|Hanoi|Vietnam|Hanói
Indonesia|Jakarta|Indonesia|Yakarta
Nepal|Kathmandu|Nepal|Katmandú
Australia|Canberra|Australia|Canberra
New Zealand|Wellington|Nueva Zelanda|Wellington
Canada|Ottawa|Canadá|Ottawa
Mexico|Mexico City|México|Ciudad de México
Cuba|Havana|Cuba|La Habana
Argentina|Buenos Aires|Argentina|Buenos Aires
Chile|Santiago|Chile|Santiago
Peru|Lima|Perú|Lima
Colombia|Bogota|Colombia|Bogotá
Venezuela|Caracas|Venezuela|Caracas
Ecuador|Quito|Ecuador|Quito
Uruguay|Montevideo|Uruguay|Montevideo
Brazil|Brasilia|Brasil|Brasilia
Bolivia|Sucre|Bolivia|Sucre
Paraguay|Asuncion|Paraguay|Asunción
Panama|Panama City|Panamá|Ciudad de Panamá
Costa Rica|San Jose|Costa Rica|San José
Guatemala|Guatemala City|Guatemala|Ciudad de Guatemala
Honduras|Tegucigalpa|Honduras|Tegucigalpa
Nicaragua|Managua|Nicaragua|Managua
Jamaica|Kingston|Jamaica|Kingston
the United States|Washington|Estados Unidos|Washington
""")

COLOURS = table("""
the sky|blue|el cielo|azul
grass|green|la hierba|verde
snow|white|la nieve|blanca
blood|red|la sangre|roja
a banana|yellow|el plátano|amarillo
a lemon|yellow|el limón|amarillo
a tomato|red|el tomate|rojo
coal|black|el carbón|negro
milk|white|la leche|blanca
chocolate|brown|el chocolate|marrón
a carrot|orange|la zanahoria|naranja
a strawberry|red|la fresa|roja
the Sun|yellow|el Sol|amarillo
an elephant|grey|el elefante|gris
a flamingo|pink|el flamenco|rosa
gold|yellow|el oro|amarillo
""")

SOUNDS = table("""
a dog|barks|el perro|ladra
a cat|meows|el gato|maúlla
a cow|moos|la vaca|muge
a sheep|bleats|la oveja|bala
a horse|neighs|el caballo|relincha
a lion|roars|el león|ruge
a pig|grunts|el cerdo|gruñe
a duck|quacks|el pato|grazna
a frog|croaks|la rana|croa
a bee|buzzes|la abeja|zumba
a wolf|howls|el lobo|aúlla
a snake|hisses|la serpiente|sisea
""")

LEGS = table("""
a dog|4|un perro|4
a cat|4|un gato|4
a spider|8|una araña|8
an ant|6|una hormiga|6
a bird|2|un pájaro|2
a horse|4|un caballo|4
a bee|6|una abeja|6
a snake|0|una serpiente|0
a human|2|una persona|2
an octopus|8|un pulpo|8
a cow|4|una vaca|4
a crab|10|un cangrejo|10
""")

YOUNG = table("""
dog|puppy|perro|cachorro
cat|kitten|gato|gatito
cow|calf|vaca|ternero
horse|foal|caballo|potro
sheep|lamb|oveja|cordero
pig|piglet|cerdo|lechón
chicken|chick|gallina|pollito
frog|tadpole|rana|renacuajo
""")

PLANETS = table("""
1|Mercury|1|Mercurio
2|Venus|2|Venus
3|Earth|3|la Tierra
4|Mars|4|Marte
5|Jupiter|5|Júpiter
6|Saturn|6|Saturno
7|Uranus|7|Urano
8|Neptune|8|Neptuno
""")

OPPOSITES = table("""
big|small|grande|pequeño
hot|cold|caliente|frío
fast|slow|rápido|lento
old|new|viejo|nuevo
high|low|alto|bajo
good|bad|bueno|malo
happy|sad|feliz|triste
open|closed|abierto|cerrado
rich|poor|rico|pobre
light|dark|claro|oscuro
full|empty|lleno|vacío
wet|dry|mojado|seco
hard|soft|duro|blando
strong|weak|fuerte|débil
clean|dirty|limpio|sucio
day|night|día|noche
up|down|arriba|abajo
left|right|izquierda|derecha
""")

WORDS = table("""
dog|perro
cat|gato
house|casa
water|agua
bread|pan
book|libro
table|mesa
sun|sol
moon|luna
tree|árbol
flower|flor
milk|leche
apple|manzana
fish|pez
bird|pájaro
door|puerta
window|ventana
car|coche
school|escuela
friend|amigo
red|rojo
blue|azul
green|verde
hello|hola
thank you|gracias
goodbye|adiós
please|por favor
night|noche
hand|mano
heart|corazón
""")

SYMBOLS = table("""
hydrogen|H|hidrógeno|H
helium|He|helio|He
carbon|C|carbono|C
nitrogen|N|nitrógeno|N
oxygen|O|oxígeno|O
sodium|Na|sodio|Na
iron|Fe|hierro|Fe
copper|Cu|cobre|Cu
silver|Ag|plata|Ag
gold|Au|oro|Au
lead|Pb|plomo|Pb
tin|Sn|estaño|Sn
zinc|Zn|zinc|Zn
calcium|Ca|calcio|Ca
""")

SIDES = table("""
a triangle|3|un triángulo|3
a square|4|un cuadrado|4
a rectangle|4|un rectángulo|4
a pentagon|5|un pentágono|5
a hexagon|6|un hexágono|6
an octagon|8|un octágono|8
""")

AMOUNTS = table("""
days|a week|7|días|una semana
months|a year|12|meses|un año
days|a year|365|días|un año
hours|a day|24|horas|un día
minutes|an hour|60|minutos|una hora
seconds|a minute|60|segundos|un minuto
years|a century|100|años|un siglo
letters|the English alphabet|26|letras|el alfabeto inglés
letters|the Spanish alphabet|27|letras|el alfabeto español
planets|the solar system|8|planetas|el sistema solar
continents|the world|7|continentes|el mundo
colours|the rainbow|7|colores|el arcoíris
centimetres|a metre|100|centímetros|un metro
metres|a kilometre|1000|metros|un kilómetro
grams|a kilogram|1000|gramos|un kilogramo
players|a football team|11|jugadores|un equipo de fútbol
""")

CURRENCIES = table("""
Japan|yen|Japón|yen
Mexico|peso|México|peso
Spain|euro|España|euro
France|euro|Francia|euro
Germany|euro|Alemania|euro
Italy|euro|Italia|euro
England|pound|Inglaterra|libra
the United States|dollar|Estados Unidos|dólar
Canada|dollar|Canadá|dólar
India|rupee|India|rupia
Russia|ruble|Rusia|rublo
Brazil|real|Brasil|real
Peru|sol|Perú|sol
Switzerland|franc|Suiza|franco
""")

CONTINENTS = table("""
France|Europe|Francia|Europa
Spain|Europe|España|Europa
Germany|Europe|Alemania|Europa
Italy|Europe|Italia|Europa
Norway|Europe|Noruega|Europa
Poland|Europe|Polonia|Europa
Greece|Europe|Grecia|Europa
Egypt|Africa|Egipto|África
Morocco|Africa|Marruecos|África
Kenya|Africa|Kenia|África
Ghana|Africa|Ghana|África
Nigeria|Africa|Nigeria|África
China|Asia|China|Asia
Japan|Asia|Japón|Asia
India|Asia|India|Asia
Thailand|Asia|Tailandia|Asia
Vietnam|Asia|Vietnam|Asia
Canada|North America|Canadá|América del Norte
Mexico|North America|México|América del Norte
Argentina|South America|Argentina|América del Sur
Chile|South America|Chile|América del Sur
Peru|South America|Perú|América del Sur
Brazil|South America|Brasil|América del Sur
Colombia|South America|Colombia|América del Sur
Australia|Oceania|Australia|Oceanía
New Zealand|Oceania|Nueva Zelanda|Oceanía
""")

DAYS = {"en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
        "es": "lunes martes miércoles jueves viernes sábado domingo".split()}
MONTHS = {"en": "January February March April May June July August September October November December".split(),
          "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()}
MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
ORDINALS = {"en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(),
            "es": "primer segundo tercer cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo".split()}
SINGLE = [  # en question wordings (last held out) | en answer | es wordings (last held out) | es answer
    (["What is the largest planet?", "Which planet is the biggest?", "Name the largest planet of the solar system.", "Which is the biggest planet in the solar system?"],
     "The largest planet is Jupiter.",
     ["¿Cuál es el planeta más grande?", "¿Qué planeta es el mayor?", "Dime el planeta más grande del sistema solar.", "¿Cuál es el mayor planeta del sistema solar?"],
     "El planeta más grande es Júpiter."),
    (["Which planet is called the red planet?", "What is the red planet?", "Which planet is red?", "Which planet is known as the red planet?"], "The red planet is Mars.",
     ["¿Qué planeta es el planeta rojo?", "¿Cuál es el planeta rojo?", "¿Qué planeta es rojo?", "¿A qué planeta se le llama el planeta rojo?"], "El planeta rojo es Marte."),
    (["Which planet has big rings?", "What planet has rings?", "Which planet is famous for its rings?", "Name the planet with the famous rings."], "The planet with the rings is Saturn.",
     ["¿Qué planeta tiene anillos?", "¿Cuál es el planeta de los anillos?", "¿Qué planeta es famoso por sus anillos?", "Dime qué planeta tiene anillos grandes."],
     "El planeta de los anillos es Saturno."),
    (["What is the largest ocean?", "Which ocean is the biggest?", "Name the biggest ocean.", "Which is the largest ocean on Earth?"], "The largest ocean is the Pacific Ocean.",
     ["¿Cuál es el océano más grande?", "¿Qué océano es el mayor?", "Dime el océano más grande.", "¿Cuál es el mayor océano de la Tierra?"], "El océano más grande es el océano Pacífico."),
    (["What is the highest mountain?", "Which mountain is the tallest?", "Name the highest mountain in the world.", "Which is the tallest mountain on Earth?"],
     "The highest mountain is Mount Everest.",
     ["¿Cuál es la montaña más alta?", "¿Qué montaña es la más alta?", "Dime la montaña más alta del mundo.", "¿Cuál es la montaña más alta de la Tierra?"], "La montaña más alta es el Everest."),
    (["What is the fastest land animal?", "Which animal runs fastest?", "Name the fastest animal on land.", "Which land animal is the fastest?"], "The fastest land animal is the cheetah.",
     ["¿Cuál es el animal terrestre más rápido?", "¿Qué animal corre más rápido?", "Dime el animal más rápido de la tierra.", "¿Qué animal terrestre es el más veloz?"],
     "El animal terrestre más rápido es el guepardo."),
    (["What is the largest animal?", "Which animal is the biggest?", "Name the biggest animal in the world.", "Which is the largest animal on Earth?"], "The largest animal is the blue whale.",
     ["¿Cuál es el animal más grande?", "¿Qué animal es el mayor?", "Dime el animal más grande del mundo.", "¿Cuál es el mayor animal de la Tierra?"], "El animal más grande es la ballena azul."),
    (["What do bees make?", "What is made by bees?", "What food do bees produce?", "Which food comes from bees?"], "Bees make honey.",
     ["¿Qué hacen las abejas?", "¿Qué producen las abejas?", "¿Qué alimento hacen las abejas?", "¿Qué comida viene de las abejas?"], "Las abejas hacen miel."),
    (["At what temperature does water boil?", "When does water boil?", "What is the boiling point of water?", "How hot must water be to boil?"], "Water boils at 100 degrees Celsius.",
     ["¿A qué temperatura hierve el agua?", "¿Cuándo hierve el agua?", "¿Cuál es el punto de ebullición del agua?", "¿A cuántos grados hierve el agua?"],
     "El agua hierve a 100 grados Celsius."),
    (["At what temperature does water freeze?", "When does water freeze?", "What is the freezing point of water?", "How cold must water be to freeze?"], "Water freezes at 0 degrees Celsius.",
     ["¿A qué temperatura se congela el agua?", "¿Cuándo se congela el agua?", "¿Cuál es el punto de congelación del agua?", "¿A cuántos grados se congela el agua?"],
     "El agua se congela a 0 grados Celsius."),
]
