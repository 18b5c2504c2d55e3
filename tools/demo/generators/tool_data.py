"""Parameters, verbs, objects and real-looking tools out of which tool lists are made. Plain data."""
from generators import words as W

# Values -------------------------------------------------------------------------------------------
def _date(r): return f"20{r.randint(20, 35)}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"
def _time(r): return f"{r.randint(0, 23):02d}:{r.choice(['00', '15', '30', '45', '05', '20'])}"
def _person(r): return r.entity(W.FIRST) if r.held or r.chance(0.6) else r.choice([W.made_up(r).capitalize(), W.noise(r)])
def _full(r): return f"{r.entity(W.FIRST)} {r.entity(W.LAST)}"
def _email(r): return f"{r.entity(W.FIRST).lower()}@{r.choice([r.choice(W.NOUNS), W.made_up(r)])}.{r.choice(['com', 'org', 'net', 'es'])}"
def _city(r): return r.entity(W.CITIES) if r.held or r.chance(0.6) else r.choice([W.made_up(r).capitalize(), W.salad(r, 1, 2, small_words=False)])
def _noun(r): return r.entity(W.NOUNS) if r.held or r.chance(0.6) else W.salad(r, 1, 1, small_words=False)
def _noun2(r): return f"{r.entity(W.ADJECTIVES)} {r.entity(W.NOUNS)}" if r.held or r.chance(0.4) else W.salad(r, 1, 3, small_words=False)
def _noun_es(r): return r.entity(W.NOUNS_ES)
def _phrase(r): return W.salad(r) if not r.held and r.chance(0.6) else r.entity(W.PHRASES) if r.chance(0.5) else W.sentence(r, r.choice(["en", "en", "es"])).rstrip(".")
def _code(r): return W.random_code(r)
def _made(r): return r.choice([W.salad(r, 1, 1, small_words=False), W.made_up(r), W.made_up(r).capitalize()])
def _file(r): return f"{r.choice([r.choice(W.NOUNS), W.made_up(r)])}{r.choice(['', '_' + r.choice(W.NOUNS), str(r.randint(1, 99))])}.{r.choice(['txt', 'pdf', 'csv', 'png', 'md', 'json'])}"
def _path(r): return "/" + "/".join(r.choice(W.NOUNS) for _ in range(r.randint(1, 3))) + r.choice(["", "/" + _file(r)])
def _url(r): return f"https://{r.choice([r.choice(W.NOUNS), W.made_up(r)])}.{r.choice(['com', 'org', 'io'])}{r.choice(['', '/' + r.choice(W.NOUNS)])}"
def _small(r): return r.randint(1, 12)
def _int(r): return r.choice([r.randint(1, 30), r.randint(1, 100), r.randint(1, 999), r.randint(1000, 99999)])
def _percent(r): return r.randint(0, 100)
def _number(r): return r.choice([round(r.uniform(-20, 40), 1), round(r.uniform(0.1, 99), 1), round(r.uniform(0.1, 999), 2), r.randint(1, 500)])
def _degrees(r): return r.choice([r.randint(15, 30), round(r.uniform(15, 30), 1)])
def _colour(r): return r.entity("red blue green yellow black white purple orange pink brown grey teal violet turquoise".split())
def _language(r): return r.entity("English Spanish French German Italian Portuguese Japanese Chinese Arabic Russian Dutch Polish Greek Turkish Korean Swedish".split())
def _currency(r): return r.entity("EUR USD GBP JPY CHF CAD AUD MXN BRL INR SEK NOK PLN KRW".split())
def _phone(r): return "".join(r.choice("0123456789") for _ in range(9))
def _bool(r): return r.chance(0.5)
def _expression(r): return f"{r.randint(2, 999)} {r.choice('+-*/')} {r.randint(2, 99)}"
def _list(r): return [r.entity(W.NOUNS) for _ in range(r.randint(1, 4))]
def _day(r): return r.choice("Monday Tuesday Wednesday Thursday Friday Saturday Sunday today tomorrow".split())


def enum(*options):
    return lambda r: r.choice(options), list(options)


# kind: (names, type, descriptions, values, en phrases, es phrases). {v} the value. Phrases read after "Verb the object".
PARAMS = [
    (["city", "town", "location", "place"], "string", ["The city", "Name of the city", "City name", "Where"], _city, ["in {v}", "for {v}"], ["en {v}", "para {v}"]),
    (["destination", "target_city", "to_city"], "string", ["Destination city", "Where to go"], _city, ["to {v}"], ["a {v}", "hasta {v}"]),
    (["origin", "from_city", "start_city"], "string", ["City of origin", "Where it starts"], _city, ["from {v}"], ["desde {v}"]),
    (["customer", "client", "person", "owner", "recipient", "user_name"], "string", ["The person", "Name of the person", "Who it is for", "Customer name"], _person, ["for {v}", "for customer {v}"], ["para {v}"]),
    (["full_name", "contact_name", "employee", "guest"], "string", ["Full name", "First and last name"], _full, ["for {v}"], ["para {v}", "a nombre de {v}"]),
    (["email", "email_address", "mail", "to"], "string", ["Email address", "The address to use"], _email, ["for {v}", "to {v}"], ["para {v}", "a {v}"]),
    (["date", "day", "on_date", "start_date", "due_date"], "string", ["Date, YYYY-MM-DD", "The date", "ISO date"], _date, ["on {v}", "for {v}"], ["el {v}", "para el {v}"]),
    (["time", "hour", "start_time", "at"], "string", ["Time, HH:MM", "The time of day"], _time, ["at {v}"], ["a las {v}"]),
    (["weekday", "day_of_week", "when"], "string", ["Day of the week", "When"], _day, ["on {v}"], ["el {v}"]),
    (["title", "subject", "name", "label", "headline"], "string", ["The title", "A short title", "Name to give"], _noun2, ["called {v}", "titled \"{v}\"", "named {v}"], ["llamado {v}", "con el título \"{v}\""]),
    (["message", "text", "body", "note", "comment", "content"], "string", ["The text", "Message to use", "Body of the message"], _phrase, ["saying \"{v}\"", "with the text \"{v}\"", "that says: {v}"],
     ["que diga \"{v}\"", "con el texto \"{v}\""]),
    (["item", "product", "article", "thing"], "string", ["The item", "Product name", "What it is about"], _noun, ["about the {v}", "with the item {v}"], ["sobre {v}", "con el artículo {v}"]),
    (["product_name", "model", "material"], "string", ["Name of the product", "The product"], _noun2, ["for the {v}"], ["para {v}"]),
    (["id", "code", "reference", "ticket_id", "order_id", "serial"], "string", ["Identifier", "Reference code", "The id"], _code, ["with id {v}", "{v}", "number {v}"], ["con código {v}", "{v}", "número {v}"]),
    (["file", "filename", "file_name", "document"], "string", ["Name of the file", "File to use"], _file, ["from the file {v}", "with the file {v}"], ["del archivo {v}", "con el archivo {v}"]),
    (["path", "folder", "directory"], "string", ["Path", "Folder path", "Where it is stored"], _path, ["in the folder {v}", "at {v}"], ["en la carpeta {v}", "en {v}"]),
    (["url", "link", "address", "website"], "string", ["Web address", "URL to open"], _url, ["at {v}", "from {v}"], ["de {v}", "en {v}"]),
    (["phone", "phone_number", "mobile"], "string", ["Phone number", "Number to call"], _phone, ["with phone {v}", "to the number {v}"], ["con teléfono {v}", "al número {v}"]),
    (["color", "colour", "tint"], "string", ["The colour", "Colour name"], _colour, ["in {v}", "with the color {v}"], ["en {v}", "de color {v}"]),
    (["language", "lang", "target_language"], "string", ["Language", "Name of the language"], _language, ["in {v}", "to {v}"], ["en {v}"]),
    (["currency", "currency_code"], "string", ["Currency code", "ISO currency"], _currency, ["in {v}"], ["en {v}"]),
    (["device", "machine", "sensor", "module"], "string", ["The device", "Name of the device"], _made, ["of the device {v}", "on {v}"], ["del dispositivo {v}", "en {v}"]),
    (["project", "team", "group", "channel", "category", "tag"], "string", ["Its name", "Where it belongs"], _made, ["in the {p} {v}", "for {p} {v}"], ["en {v}", "para {v}"]),
    (["keyword", "query", "search_term", "topic"], "string", ["What to look for", "Search text"], _noun2, ["about {v}", "matching \"{v}\""], ["sobre {v}", "que coincida con \"{v}\""]),
    (["quantity", "count", "units", "number_of_items", "copies", "people", "guests"], "integer", ["How many", "Quantity", "Number of units"], _small, ["with {p} {v}", "for {v} {p}"], ["con {p} {v}"]),
    (["limit", "max_results", "size", "page", "level", "priority", "floor", "room_number"], "integer", ["A whole number", "The value", "Upper bound"], _int, ["with {p} {v}", "and {p} {v}"], ["con {p} {v}"]),
    (["minutes", "duration", "duration_minutes", "seconds", "delay", "days", "hours"], "integer", ["How long", "Duration"], _int, ["for {v} {p}", "with {p} {v}"], ["con {p} {v}"]),
    (["brightness", "volume", "percent", "speed", "humidity"], "integer", ["From 0 to 100", "Percentage"], _percent, ["at {v} percent", "with {p} {v}"], ["con {p} {v}", "al {v} por ciento"]),
    (["amount", "price", "total", "budget", "cost"], "number", ["The amount", "Amount of money", "Price"], _number, ["for {v} euros", "with {p} {v}", "of {v}"], ["por {v} euros", "con {p} {v}", "de {v}"]),
    (["temperature", "degrees"], "number", ["Degrees Celsius", "The temperature"], _degrees, ["at {v} degrees", "to {v} degrees"], ["a {v} grados"]),
    (["weight", "height", "width", "length", "distance", "radius", "rate", "threshold"], "number", ["The measure", "A number", "The value"], _number, ["with {p} {v}", "and a {p} of {v}"], ["con {p} {v}"]),
    (["urgent", "notify", "enabled", "public", "verbose", "recursive", "confirmed", "express", "dry_run", "private"], "boolean", ["Whether it is so", "True or false", "Flag"], _bool, ["with {p} {v}", "and {p} {v}", "with {p} set to {v}"],
     ["con {p} {v}", "y {p} {v}"]),
    (["tags", "items", "names", "labels", "ingredients"], "array", ["Several names", "A list of words"], _list, ["with {p} {v}", "and the {p} {v}"], ["con {p} {v}"]),
    (["unit", "units"], "string", ["Unit of temperature"], enum("celsius", "fahrenheit"), ["in {v}"], ["en {v}"]),
    (["priority", "severity", "importance"], "string", ["The level"], enum("low", "medium", "high"), ["with {v} {p}", "with {p} {v}"], ["con {p} {v}"]),
    (["format", "output", "file_type"], "string", ["Output format"], enum("pdf", "csv", "json", "html", "xml"), ["as {v}", "in {v} format"], ["en formato {v}", "como {v}"]),
    (["mode", "strategy"], "string", ["Mode"], enum("fast", "slow", "safe", "eco", "auto", "manual"), ["in {v} mode", "with {p} {v}"], ["en modo {v}"]),
    (["size", "package_size"], "string", ["The size"], enum("small", "medium", "large"), ["in size {v}", "with size {v}"], ["de tamaño {v}"]),
]
GENERIC = {"en": ["with {p} {v}", "with {p} = {v}", "using {v} as {p}", "where {p} is {v}", "{p}: {v}", "and {p} {v}", "setting {p} to {v}"],
           "es": ["con {p} {v}", "con {p} = {v}", "usando {v} como {p}", "donde {p} es {v}", "{p}: {v}", "y {p} {v}"]}
GENERIC_HELD = {"en": ["and let {p} be {v}", "taking {v} for {p}"], "es": ["y que {p} sea {v}", "poniendo {v} como {p}"]}

VERBS = [v.split("/") for v in """create/crea delete/borra update/actualiza find/busca get/consigue list/lista send/envía open/abre close/cierra
start/inicia stop/detén book/reserva cancel/cancela check/comprueba print/imprime rename/renombra share/comparte archive/archiva move/mueve
copy/copia schedule/programa order/encarga pay/paga track/sigue lock/bloquea unlock/desbloquea measure/mide scan/escanea upload/sube
download/descarga register/registra assign/asigna approve/aprueba reject/rechaza export/exporta import/importa merge/fusiona compare/compara
count/cuenta calibrate/calibra reset/reinicia restart/reinicia install/instala publish/publica paint/pinta water/riega feed/alimenta
ship/despacha refund/reembolsa translate/traduce convert/convierte play/reproduce pause/pausa save/guarda load/carga show/muestra hide/oculta
enable/activa disable/desactiva add/añade remove/quita rent/alquila buy/compra sell/vende review/revisa summarize/resume validate/valida
encrypt/cifra compress/comprime backup/respalda restore/restaura sync/sincroniza inspect/inspecciona estimate/estima plan/planifica
invite/invita notify/avisa call/llama sort/ordena filter/filtra split/divide render/dibuja record/graba clean/limpia heat/calienta""".split()]
OBJECTS = [o.split("/") for o in """invoice/la-factura report/el-informe ticket/el-billete user/el-usuario meeting/la-reunión room/la-habitación
order/el-pedido lamp/la-lámpara file/el-archivo photo/la-foto song/la-canción playlist/la-lista task/la-tarea reminder/el-recordatorio
event/el-evento contact/el-contacto account/la-cuenta payment/el-pago package/el-paquete shipment/el-envío flight/el-vuelo hotel/el-hotel
table/la-mesa car/el-coche bike/la-bicicleta train/el-tren route/la-ruta map/el-mapa weather/el-tiempo forecast/el-pronóstico alarm/la-alarma
timer/el-temporizador heater/el-calentador thermostat/el-termostato door/la-puerta window/la-ventana camera/la-cámara sensor/el-sensor
printer/la-impresora server/el-servidor database/la-base backup/la-copia project/el-proyecto team/el-equipo channel/el-canal message/el-mensaje
email/el-correo letter/la-carta document/el-documento contract/el-contrato form/el-formulario survey/la-encuesta recipe/la-receta meal/la-comida
product/el-producto stock/las-existencias price/el-precio coupon/el-cupón subscription/la-suscripción license/la-licencia device/el-dispositivo
robot/el-robot drone/el-dron garden/el-jardín plant/la-planta pump/la-bomba valve/la-válvula engine/el-motor battery/la-batería screen/la-pantalla
video/el-vídeo image/la-imagen chart/el-gráfico note/la-nota book/el-libro article/el-artículo comment/el-comentario poll/la-votación game/la-partida
player/el-jugador score/la-puntuación course/el-curso lesson/la-lección exam/el-examen student/el-alumno patient/el-paciente appointment/la-cita
claim/la-reclamación policy/la-póliza budget/el-presupuesto expense/el-gasto salary/el-salario branch/la-rama build/la-compilación log/el-registro
cluster/el-clúster queue/la-cola token/la-ficha key/la-llave badge/la-insignia parcel/la-parcela warehouse/el-almacén truck/el-camión""".split()]

# Tools that people really define: name|description|params (name:type:description:kind)|en asks|es asks
REAL = """
get_weather|Get the current weather for a city|city:string:The city name:city|What is the weather in {city}?;What's the weather like in {city}?;How is the weather in {city} today?;Weather in {city}, please.;Is it raining in {city}?;Tell me the weather in {city}.|¿Qué tiempo hace en {city}?;¿Cómo está el tiempo en {city}?;Dime el tiempo en {city}.;¿Llueve en {city}?
get_forecast|Get the weather forecast for a number of days|city:string:City:city,days:integer:Number of days:small|Give me the forecast for {city} for {days} days.;What will the weather be in {city} in the next {days} days?|Dame el pronóstico de {city} para {days} días.
get_current_time|Get the current time in a city|city:string:The city:city|What time is it in {city}?;Tell me the time in {city}.;Current time in {city}?|¿Qué hora es en {city}?;Dime la hora en {city}.
get_time||timezone:string:Time zone or city:city|What time is it in {timezone}?;Give me the time for {timezone}.|¿Qué hora es en {timezone}?
calculator|Evaluate a mathematical expression|expression:string:The expression to evaluate:expression|Calculate {expression} with the calculator.;What is {expression}?;Calculate {expression}.;How much is {expression}?;Use the calculator for {expression}.;Evaluate {expression}.|Usa la calculadora para {expression}.;¿Cuánto es {expression}?;Evalúa {expression}.
calculate|Performs arithmetic|expression:string:Arithmetic expression:expression|Please use the tool to compute {expression}.;Run calculate on {expression}.;What is {expression}?;Work out {expression}.|Usa la herramienta para calcular {expression}.
add|Add two numbers|a:number:First number:number,b:number:Second number:number|Use the tool to add {a} and {b}.;What is {a} + {b}?;What is {a} plus {b}?;Add {a} and {b} with the tool.|Usa la herramienta para sumar {a} y {b}.
multiply|Multiply two numbers|a:integer:First number:int,b:integer:Second number:int|Multiply {a} by {b} with the tool.;What is {a} times {b}?;Use multiply on {a} and {b}.|Multiplica {a} por {b} con la herramienta.
web_search|Search the web|query:string:Search query:noun2|Search the web for {query}.;Look up {query} online.;Find web pages about {query}.|Busca {query} en la web.;Busca en internet {query}.
search|Search documents|query:string:What to search:noun2,limit:integer:Maximum number of results:small|Search for {query}, at most {limit} results.;Find {limit} results about {query}.|Busca {query}, con {limit} resultados como máximo.
send_email|Send an email|to:string:Recipient address:email,subject:string:Subject line:noun2,body:string:Text of the email:phrase|Send an email to {to} with subject {subject} and body "{body}".;Email {to}, subject "{subject}", saying "{body}".|Envía un correo a {to} con asunto {subject} y texto "{body}".
send_message|Send a text message to a contact|contact:string:Name of the contact:person,message:string:The message:phrase|Send {contact} a message: {message};Text {contact} "{message}".;Tell {contact}: {message}|Envía a {contact} el mensaje: {message};Dile a {contact}: {message}
set_timer|Set a timer|minutes:integer:Minutes:int|Set a timer for {minutes} minutes.;Start a {minutes} minute timer.|Pon un temporizador de {minutes} minutos.
set_alarm|Set an alarm|time:string:Time, HH:MM:time|Wake me up at {time}.;Set an alarm for {time}.|Despiértame a las {time}.;Pon una alarma a las {time}.
create_reminder|Create a reminder|text:string:What to remember:phrase,date:string:Date:date|Remind me on {date}: {text};Create a reminder for {date} saying "{text}".|Recuérdame el {date}: {text}
convert_currency|Convert an amount between currencies|amount:number:Amount:number,from_currency:string:Source currency:currency,to_currency:string:Target currency:currency|Convert {amount} {from_currency} to {to_currency}.;How much is {amount} {from_currency} in {to_currency}?|Convierte {amount} {from_currency} a {to_currency}.;¿Cuánto son {amount} {from_currency} en {to_currency}?
get_stock_price|Get the price of a stock|symbol:string:Ticker symbol:ticker|What is the stock price of {symbol}?;Price of {symbol} stock?;How much is {symbol} trading at?|¿Cuál es el precio de la acción {symbol}?
translate|Translate text|text:string:Text to translate:phrase,target_language:string:Target language:language|Translate "{text}" to {target_language}.;How do you say "{text}" in {target_language}?|Traduce "{text}" a {target_language}.
book_flight|Book a flight|origin:string:From:city,destination:string:To:city,date:string:Date of the flight:date|Book a flight from {origin} to {destination} on {date}.;I need to fly from {origin} to {destination} on {date}.|Reserva un vuelo de {origin} a {destination} el {date}.
book_table|Book a restaurant table|restaurant:string:Restaurant name:made,people:integer:Number of people:small,time:string:Time:time|Book a table at {restaurant} for {people} people at {time}.;Reserve a table for {people} at {restaurant}, {time}.|Reserva una mesa en {restaurant} para {people} personas a las {time}.
find_hotel|Find hotels|city:string:City:city,max_price:number:Maximum price per night:int|Find a hotel in {city} under {max_price} euros.;Hotels in {city} for at most {max_price}?|Busca un hotel en {city} por menos de {max_price} euros.
turn_on_light|Turn on a light|room:string:Room:noun|Turn on the light in the {room}.;Light on in the {room}, please.|Enciende la luz de {room}.
set_light|Switch a light|room:string:Room:noun,on:boolean:On or off:bool|Set the light in the {room}, on: {on}.;Light of the {room}: {on}.|Pon la luz de {room} en {on}.
set_thermostat|Set the thermostat|temperature:number:Degrees:degrees|Set the thermostat to {temperature} degrees.;Make it {temperature} degrees in here.|Pon el termostato a {temperature} grados.
play_music|Play a song|song:string:Song title:noun2,artist:string:Artist:full|Play {song} by {artist}.;I want to hear {song} by {artist}.|Pon {song} de {artist}.
get_user|Look up a user|user_id:integer:Numeric id:int|Get the user with id {user_id}.;Who is user {user_id}?;Look up user {user_id}.|Busca el usuario {user_id}.;¿Quién es el usuario {user_id}?
get_order_status|Get the status of an order|order_id:string:Order id:code|What is the status of order {order_id}?;Where is my order {order_id}?;Check order {order_id}.|¿Cuál es el estado del pedido {order_id}?;¿Dónde está mi pedido {order_id}?
read_file|Read a file|path:string:Path of the file:path|Read the file {path}.;Show me {path}.;What is in {path}?|Lee el archivo {path}.;¿Qué hay en {path}?
write_file|Write text to a file|path:string:Path:path,content:string:Text to write:phrase|Write "{content}" to {path}.;Save "{content}" in the file {path}.|Escribe "{content}" en {path}.
list_files|List the files of a folder|folder:string:Folder:path|List the files in {folder}.;Which files are in {folder}?|Lista los archivos de {folder}.
create_event|Create a calendar event|title:string:Title:noun2,date:string:Date:date,time:string:Time:time|Create an event called {title} on {date} at {time}.;Put {title} in my calendar on {date} at {time}.|Crea un evento llamado {title} el {date} a las {time}.
get_distance|Distance between two cities|from:string:First city:city,to:string:Second city:city|How far is it from {from} to {to}?;Distance between {from} and {to}?|¿A qué distancia está {from} de {to}?
get_news|Get the latest news about a topic|topic:string:Topic:noun|What is the news about {topic}?;Latest news on {topic}?|¿Qué noticias hay sobre {topic}?
random_number|Generate a random number|min:integer:Lowest:small,max:integer:Highest:int|Give me a random number between {min} and {max}.;Random number from {min} to {max}.|Dame un número al azar entre {min} y {max}.
roll_dice|Roll dice|sides:integer:Sides of each die:small,count:integer:Number of dice:small|Roll {count} dice with {sides} sides.|Tira {count} dados de {sides} caras.
get_recipe|Get a recipe|dish:string:Name of the dish:noun2|How do I cook {dish}?;Give me a recipe for {dish}.|Dame la receta de {dish}.
get_population|Population of a city|city:string:City:city|How many people live in {city}?;What is the population of {city}?|¿Cuánta gente vive en {city}?
define_word|Look up a word|word:string:The word:noun|Define {word}.;What is the definition of {word}?|Define {word}.
add_to_cart|Add a product to the cart|product:string:Product:noun,quantity:integer:How many:small|Add {quantity} {product} to my cart.;Put {quantity} {product} in the cart.|Añade {quantity} {product} al carrito.
get_battery_level|Battery level of a device|device:string:Device name:made|What is the battery level of {device}?;How much battery does {device} have?|¿Cuánta batería tiene {device}?
run_query|Run a database query|table:string:Table:noun,limit:integer:Row limit:int|Query the table {table} with limit {limit}.|Consulta la tabla {table} con límite {limit}.
call_contact|Call somebody|name:string:Who to call:full|Call {name}.;Phone {name}, please.|Llama a {name}.
get_current_date|Get the current date||What is the date today?;Which day is it?;Today's date?|¿Qué fecha es hoy?;¿A qué día estamos?
get_location|Get the current location of the user||Where am I?;What is my location?|¿Dónde estoy?
lock_door|Lock a door|door:string:Which door:noun|Lock the {door} door.|Cierra la puerta {door}.
track_package|Track a package|tracking_number:string:Tracking number:code|Track the package {tracking_number}.;Where is package {tracking_number}?|Sigue el paquete {tracking_number}.;¿Dónde está el paquete {tracking_number}?
"""
def _ticker(r): return "".join(r.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(r.randint(2, 4)))


KINDS = {k[1:]: f for k, f in list(globals().items()) if k.startswith("_") and callable(f) and not k.startswith("__")}

# Keys and values of tool results.
RESULT_KEYS = """temperature condition status id price total count name city date time result value level owner message humidity wind distance
duration balance email phone address state code currency title size color weight rating score speed battery location temp unit rate quantity
available confirmed success created updated author language version version_id reference seat gate platform room floor delay eta stock""".split()
WORDS_RESULT = """sunny cloudy rainy windy stormy foggy open closed active pending shipped delivered cancelled confirmed ready done failed busy
free late on-time warm cold high low medium normal unknown approved rejected online offline""".split()
ERRORS = """not found|permission denied|service unavailable|invalid id|timeout|no results|city not found|quota exceeded|bad request|file missing|unknown user|network error|already exists|no stock left""".split("|")
