"""How people ask for a tool, and more real-looking tools. Plain data; [a|b] are alternatives (manner.py).

ASK, BY_NAME: trained wordings of a request in words or by the tool's name; *_HELD are for the score alone. *_WIDE, QUESTIONS and
MORE_TOOLS are for training alone: {r} stands for words that mean nothing there, so that no one wording is leant on."""

ASK = {"en": ["{do}{args}[.|.|, please.|, thank you.|!|]", "{do}{args}[.|]", "{do}{args}.", "[Please|Kindly|Now|Hey,|Hi,|OK,|So,|Next,|First,|Then|Quickly] {low}{args}[.|, please.|]", "[Can|Could|Will] you [please |kindly |quickly |now |]{low}{args}[?| for me?| now?|, please?]",
              "I [need|want|wish|have|would love|am going|am trying] to {low}{args}.", "I [need|want|beg|expect] you to {low}{args}.", "It is time to {low}{args}.", "We [must|should|have to|need to] {low}{args}.", "Let's {low}{args}.", "[Go ahead and|Make sure to|Remember to|Try to|Help me to|Start to|Do not forget to] {low}{args}.",
              "[Next step|To do|Job|Request|Order|My wish|Goal|Todo]: {low}{args}.", "My [boss|friend|client|team|sister] wants [me|us|you] to {low}{args}.", "Is it possible to {low}{args}?", "How about you {low}{args}?", "You [should|must|can] {low}{args}."],
       "es": ["{do}{args}[.|, por favor.|!|]", "{do}{args}.", "[Por favor,|Oye,|Hola,|Ahora|Vale,|Bueno,|Primero|Luego|Rápido:] {low}{args}.", "[Necesito|Quiero|Pido|Hace falta] esto: {low}{args}.", "[Tarea|Encargo|Siguiente paso|Petición]: {low}{args}.", "{do}{args}, si puedes.", "Mi [jefe|amiga|cliente] dice: {low}{args}."]}
ASK_HELD = {"en": ["{do}{args}, thanks.", "Would you {low}{args}?", "I'd like you to {low}{args}.", "Your task: {low}{args}."], "es": ["Venga, {low}{args}.", "Te pido esto: {low}{args}.", "{do}{args}, gracias."]}
BY_NAME = {"en": ["[Call|Use|Run|Execute|Try|Start|Apply] {name}{args}[.|, please.|]", "[Please|Now|OK,|Hey,] [call|use|run|execute] {name}{args}.", "[Call|Use|Run] the [tool|function] {name}{args}.", "[Can|Could] you [call|use|run] {name}{args}?", "I [want|need] {name}{args}.", "{name}{args}", "Do {name}{args}.",
                  "I want you to [call|use|run] {name}{args}.", "[Send|Issue|Trigger] {name}{args}.", "The tool {name}{args}, please."],
           "es": ["[Llama a|Usa|Ejecuta|Lanza|Prueba] {name}{args}[.|, por favor.|]", "[Por favor,|Ahora|Oye,] [llama a|usa|ejecuta] {name}{args}.", "[Usa|Ejecuta] la [herramienta|función] {name}{args}.", "¿Puedes [usar|ejecutar] {name}{args}?", "Quiero {name}{args}.", "{name}{args}"]}
BY_NAME_HELD = {"en": ["Invoke {name}{args}.", "Make a call to {name}{args}."], "es": ["Invoca {name}{args}."]}

ASK_WIDE = {"en": ["{r}: {low}{args}.", "{r} {low}{args}.", "{r}, {low}{args}[.|!|]", "{r}. {do}{args}[.|!|]", "{do}{args} {r}.", "[Mission|Command|Action|Duty|Assignment|Wanted|What I need|Next up|One more thing|Again|Exercise]: {low}{args}[.|!|]",
                    "[Shall|May] [we|I] {low}{args}?", "Why don't you {low}{args}?", "[Your|The] [job|goal|turn|mission|duty] is to {low}{args}.", "I [was told|decided|plan|hope|promised|have been asked] to {low}{args}.",
                    "[Somebody|Someone|The system|He|She] [has to|should|must|ought to] {low}{args}.", "[Be so kind and|Be nice and|Get ready and|Hurry and|Just|Simply|Kindly do] {low}{args}.", "{do}{args}, [many thanks|my friend|OK|right now|if you can|as agreed|as always|I beg you][.|!]",
                    "[Would it be|Is it] [OK|fine|easy] to {low}{args}?", "[Do you mind|Any chance] if you {low}{args}?", "[I'd love|I'd want|I hope for] you to {low}{args}."],
            "es": ["{r}: {low}{args}.", "{r} {low}{args}.", "{r}, {low}{args}[.|!|]", "{r}. {do}{args}[.|!|]", "[Misión|Orden|Acción|Deberes|Se pide|Te toca|Una cosa más|Otra vez|Lo siguiente|Ejercicio]: {low}{args}[.|!|]",
                   "[Anda|Mira|Amigo|Atención|Ya|Después|Por último|Enseguida], {low}{args}[.|!|]", "{do}{args}, [muchas gracias|amigo|ahora mismo|te lo ruego|como siempre|porfa][.|!]", "[Me han dicho|Te digo|Te ordeno|Hazme un favor]: {low}{args}.", "[Tu misión|Tu trabajo|El plan|El objetivo] es este: {low}{args}."]}
BY_NAME_WIDE = {"en": ["{r} {name}{args}[.|!|]", "{r}: {name}{args}[.|]", "{r}, {name}{args}.", "[Perform|Activate|Fire|Launch|Employ|Pick|Choose|Open|Do a run of|Go for|Let's use|Try out] {name}{args}[.|, please.|!]", "[With|By means of|Through] {name}, go on{args}.",
                         "[It is time for|Give me|Show me|I would like|Let me have] {name}{args}[.|!]", "[Have|Let] {name} run{args}."],
                "es": ["{r} {name}{args}[.|!|]", "{r}: {name}{args}[.|]", "{r}, {name}{args}.", "[Activa|Emplea|Escoge|Elige|Haz|Abre|Corre|Pon en marcha] {name}{args}[.|, por favor.|!]", "[Necesito|Hace falta|Dame|Toca] {name}{args}."]}
# Questions that a tool of a verb such as get or check answers. {n} its object.
QUESTIONS = {"en": ["What is the {n}{args}?", "What's the {n}{args}?", "[Tell|Show|Give|Bring] me the {n}{args}[.|, please.|]", "The {n}{args}?", "The {n}{args}[.|, please.|]", "Where is the {n}{args}?", "How is the {n}{args}?", "Which {n} is there{args}?", "Is there a {n}{args}?",
                    "Do you have the {n}{args}?", "I wonder about the {n}{args}.", "How about the {n}{args}?", "I would like to see the {n}{args}.", "What do you know of the {n}{args}?", "[Can|Could] I see the {n}{args}?", "Let me see the {n}{args}.", "{n}{args}?", "My {n}{args}?"],
             "es": ["¿Cuál es {n}{args}?", "¿Dónde está {n}{args}?", "[Dime|Dame|Muéstrame|Enséñame] {n}{args}[.|, por favor.|]", "¿Cómo está {n}{args}?", "¿Y {n}{args}?", "¿Tienes {n}{args}?", "¿Puedo ver {n}{args}?", "Quiero ver {n}{args}.", "¿Hay algo sobre {n}{args}?", "¿Qué sabes de {n}{args}?", "¿Qué hay de {n}{args}?"]}
# Parameters in other words than those of tool_data.py.
GENERIC_WIDE = {"en": ["with {p} [of|as|at|equal to|being|set to|fixed to|given as] {v}", "[where|in which|so that] {p} [equals|must be|should be|becomes|will be] {v}", "[make|have] {p} {v}", "and {p} [as|=|is|equals|should be|:] {v}", "{p} {v}", "{p}={v}", "{p} = {v}", "{p} -> {v}", "{p} [is|equals|should be|must be|will be] {v}",
                       "[and |]set {p} to {v}", "keeping {p} at {v}", "the {p} is {v}", "its {p} is {v}", "plus {p} {v}", "also {p} {v}", "({p}: {v})", "({p} {v})", "[use|choose|pick|write|put|enter] {v} [as|for|in] [the |]{p}", "[choosing|putting|giving|picking] {v} as [the |]{p}", "[assign|give|apply] {v} to {p}",
                       "whose {p} is {v}", "[having|giving it|with a|with the|given the|under the] {p} {v}", "{v} [as|is|being] the {p}", "by {p} {v}", "per {p} {v}", "- {p}: {v}", "; {p}: {v}", "[let's say|say] {p} {v}", "on {p} {v}", "at {p} {v}", "for {p} {v}", "[I want|we need|need] {p} {v}"],
                "es": ["con {p} [de|igual a|a|puesto a|fijado en] {v}", "[donde|en que|en el que] {p} [vale|será|debe ser|ha de ser] {v}", "[usa|elige|escribe|pon] {v} [como|de|en|para] {p}", "y {p} [es|igual a|vale|=|:] {v}", "{p} {v}", "{p}={v}", "{p} = {v}", "{p} -> {v}", "[el|su] {p} es {v}", "[fija|deja] {p} en {v}", "pon {p} a {v}",
                       "cuyo {p} es {v}", "que {p} valga {v}", "que tenga {p} {v}", "siendo {p} {v}", "además {p} {v}", "eligiendo {v} [como|para] {p}", "dando {v} a {p}", "({p}: {v})", "({p} {v})", "{v} como {p}", "por {p} {v}", "- {p}: {v}", "; {p}: {v}", "teniendo {p} {v}", "[quiero|necesito] {p} {v}", "de {p} {v}", "a {p} {v}"]}

# name|description|params (name:type:description:kind)|en asks|es asks, as D.REAL
MORE_TOOLS = """
get_sunrise|Get the time of sunrise|city:string:City:city|When does the sun rise in {city}?;Sunrise in {city}, please.;Give me the sunrise time of {city}.|¿A qué hora sale el sol en {city}?;Amanecer en {city}.
get_humidity|Get the humidity of the air in a place|place:string:The place:city|How humid is it in {place}?;Humidity for {place}?;Is the air of {place} dry?|¿Qué humedad hay en {place}?;Humedad de {place}
get_air_quality|Get the air quality index|location:string:Place name:city|How clean is the air in {location}?;Air quality at {location}?|¿Cómo es el aire de {location}?
get_exchange_rate|Get an exchange rate|base:string:Currency code:currency,quote:string:Currency code:currency|What is the exchange rate from {base} to {quote}?;Rate {base}/{quote}?|¿A cuánto está el cambio de {base} a {quote}?
find_restaurant|Find restaurants|city:string:City:city,cuisine:string:Kind of food:noun,limit:integer:How many:small|Show me {limit} {cuisine} restaurants near {city}.;Where can I eat {cuisine} in {city}? Give me {limit} places.|Quiero {limit} restaurantes de {cuisine} en {city}.
find_flights|Find flights between two cities|from_city:string:Origin:city,to_city:string:Destination:city,max_stops:integer:Stops:small|Flights from {from_city} to {to_city} with at most {max_stops} stops?;Find me a flight {from_city} to {to_city}, {max_stops} stops or fewer.|Vuelos de {from_city} a {to_city} con {max_stops} escalas como mucho.
book_taxi|Order a taxi|pickup:string:Where it starts:path,time:string:When:time|I need a taxi at {time} from {pickup}.;Taxi from {pickup}, {time}.;Get me a cab at {pickup} for {time}.|Pide un taxi a las {time} desde {pickup}.
rent_bike|Rent a bike|station:string:Station:made,hours:integer:For how long:small|Rent me a bike at {station} for {hours} hours.;A bike from {station}, {hours} hours.|Alquila una bici en {station} por {hours} horas.
post_status|Publish a status|text:string:What it says:phrase|Post "{text}".;Publish this: {text};Share the status {text}|Publica: {text};Publica "{text}".
add_note|Add a note|text:string:The note:phrase|Note this down: {text};Write a note: {text};Take a note saying {text}|Apunta esto: {text};Toma nota: {text}
leave_voicemail|Leave a voice message|person:string:For whom:person,words:string:What to say:phrase|Leave {person} a voicemail: {words};Record for {person}: {words}|Graba para {person}: {words}
invite_guest|Invite a guest|guest:string:Who:full,event:string:To what:noun2|Invite {guest} to the {event}.;{guest} should come to {event}, invite them.|Invita a {guest} a {event}.
ask_expert|Ask a person a question|expert:string:Whom:person,question:string:The question:phrase|Ask {expert}: {question};I want {expert} to answer this: {question}|Pregunta a {expert}: {question}
post_comment|Comment on a post|post_id:string:Post:code,comment:string:The comment:phrase|Comment on {post_id}: {comment};Under post {post_id} write "{comment}".|Comenta en {post_id}: {comment}
create_ticket|Open a support ticket|summary:string:Short text:phrase,level:integer:Level:small|Open a ticket of level {level}: {summary};Ticket, level {level}: {summary}|Abre un ticket de nivel {level}: {summary}
close_ticket|Close a support ticket|ticket:string:Number:code|Close ticket {ticket}.;Ticket {ticket} can be closed.;We are done with {ticket}.|Cierra el ticket {ticket}.;El ticket {ticket} ya está.
get_invoice|Get an invoice|number:string:Invoice number:code|Invoice {number}, please.;Show the bill {number}.;I lost my invoice {number}.|Dame la factura {number}.
pay_bill|Pay a bill|bill:string:Number:code,amount:number:How much:number|Pay {amount} for bill {bill}.;Settle {bill} with {amount} euros.|Paga {amount} por el recibo {bill}.
transfer_money|Send money|account:string:Account:code,amount:number:How much:number|Transfer {amount} euros to {account}.;Move {amount} to account {account}.|Pasa {amount} euros a la cuenta {account}.
get_balance|Get the balance of an account|account_id:string:Account:code|How much money is in {account_id}?;Balance of {account_id}?|¿Cuánto dinero hay en {account_id}?;Saldo de {account_id}
search_images|Find pictures|subject:string:What they show:noun2,count:integer:How many:small|{count} pictures of {subject}, please.;Show me {count} photos of a {subject}.|Quiero {count} fotos de {subject}.
search_products|Find products in the shop|text:string:What:noun2,max_price:number:Highest price:int|Which {text} costs less than {max_price}?;Show {text} below {max_price} euros in the shop.|¿Qué {text} cuesta menos de {max_price}?
check_stock|See if a product is in stock|product:string:Product:noun2,shop:string:Shop:made|Is {product} in stock at {shop}?;Does {shop} have {product}?|¿Tiene {shop} {product}?
find_book|Find a book|title:string:Title:noun2,author:string:Author:full|Do you have {title} by {author}?;The book {title}, by {author}.|¿Está el libro {title} de {author}?
play_video|Play a video|title:string:Title:noun2,quality:string:Quality:made|Play the video {title} in {quality} quality.;Start {title} ({quality}).|Pon el vídeo {title} en calidad {quality}.
set_volume|Set the volume|level:integer:0 to 100:percent|Volume {level}.;Make it {level} percent loud.;Turn the sound to {level}.|Volumen al {level}.;Pon el sonido a {level}.
set_brightness|Set the brightness of a lamp|lamp:string:Lamp:noun,level:integer:0 to 100:percent|Dim the {lamp} lamp to {level}.;{lamp} lamp at {level} percent.|Pon la lámpara {lamp} al {level} por ciento.
set_color|Set the colour of a lamp|lamp:string:Lamp:noun,color:string:Colour:colour|Make the {lamp} {color}.;I want the {lamp} lamp in {color}.|Pon la lámpara {lamp} de color {color}.
open_blinds|Open the blinds|room:string:Room:noun,percent:integer:How far:percent|Blinds in the {room} to {percent} percent.;Let light into the {room}, {percent} percent.|Sube la persiana de {room} al {percent} por ciento.
start_vacuum|Start the vacuum robot|room:string:Room:noun|Vacuum the {room}.;Clean the floor of the {room}.|Aspira {room}.;Pasa la aspiradora por {room}.
water_plants|Water plants|zone:string:Zone:made,minutes:integer:How long:small|Water zone {zone} for {minutes} minutes.;{minutes} minutes of water on {zone}.|Riega la zona {zone} {minutes} minutos.
copy_file|Copy a file|source:string:From:path,target:string:To:path|Copy {source} to {target}.;I need {source} also at {target}.|Copia {source} en {target}.
delete_file|Delete a file|file:string:Which:file|Remove {file}.;Delete {file} for me.;Get rid of {file}.|Borra {file}.;Elimina el fichero {file}.
rename_file|Rename a file|old:string:Old name:file,new:string:New name:file|Rename {old} to {new}.;{old} should be called {new}.|Cambia el nombre de {old} a {new}.
get_file_size|Get the size of a file|file_path:string:File:path|How big is {file_path}?;Size of {file_path}?|¿Cuánto ocupa {file_path}?
make_directory|Make a directory|where:string:Path:path|Make the directory {where}.;mkdir {where};I want a new folder {where}.|Crea la carpeta {where}.
run_command|Run a shell command|command:string:The command:file|Run the command {command}.;Execute `{command}` in the shell.|Ejecuta el comando {command}.
run_script|Run a script|script:string:File:file,times:integer:How often:small|Run {script} {times} times.;Execute {script}, {times} runs.|Ejecuta {script} {times} veces.
count_rows|Count the rows of a sheet|sheet:string:Sheet:noun|How many rows has the sheet {sheet}?;Rows in {sheet}?|¿Cuántas filas tiene la hoja {sheet}?
insert_row|Insert a row|sheet:string:Sheet:noun,row:integer:Position:int|Put a new row at {row} into {sheet}.;Insert row {row} in the sheet {sheet}.|Mete una fila en la posición {row} de {sheet}.
fetch_page|Get a web page|url:string:Address:url|Open {url}.;What does {url} say?;Fetch {url}|Abre {url}.;¿Qué pone en {url}?
shorten_url|Make a short link|url:string:Address:url|Shorten {url}.;A short link for {url}, please.|Acorta {url}.
ping_server|Check that a server answers|host:string:Host:url,count:integer:Times:small|Ping {host} {count} times.;Is {host} alive? Try {count} times.|Haz ping a {host} {count} veces.
get_coordinates|Coordinates of a place|place:string:Place:city|Where on the map is {place}?;Coordinates of {place}?;Latitude and longitude of {place}, please.|¿Cuáles son las coordenadas de {place}?
get_route|Directions between two places|start:string:From:city,end:string:To:city,mode:string:By what:noun|How do I get from {start} to {end} by {mode}?;Route {start} to {end} by {mode}.|¿Cómo voy de {start} a {end} en {mode}?
get_timezone|Time zone of a place|place:string:Place:city|Which time zone is {place} in?;Time zone of {place}?|¿Qué zona horaria tiene {place}?
get_holidays|Public holidays of a country|country:string:Country:made,year:integer:Year:int|Holidays of {country} in {year}?;When is there no school in {country}, year {year}?|¿Qué fiestas hay en {country} en {year}?
days_until|Days until a date|date:string:Date:date|How many days until {date}?;How long is it to {date}?|¿Cuántos días faltan para el {date}?
get_calendar|Show the calendar of a day|date:string:Date:date|What do I have on {date}?;Am I free on {date}?;My calendar for {date}.|¿Qué tengo el {date}?;Agenda del {date}
move_event|Move an event|event:string:Event:noun2,date:string:New date:date|Move {event} to {date}.;{event} will be on {date}, change it.|Pasa {event} al {date}.
cancel_event|Cancel an event|event:string:Event:noun2|Cancel {event}.;{event} will not take place.;Call off the {event}.|Cancela {event}.;No habrá {event}.
count_words|Count the words of a text|text:string:The text:phrase|How many words are in "{text}"?;Count the words: {text}|¿Cuántas palabras hay en "{text}"?;Cuenta las palabras: {text}
reverse_text|Write a text backwards|text:string:The text:phrase|Write "{text}" backwards.;Reverse this: {text}|Escribe al revés: {text}
detect_language|Tell the language of a text|text:string:The text:phrase|Which language is this: {text};In what language is "{text}"?|¿En qué idioma está esto? {text}
check_spelling|Check the spelling|word:string:The word:made|Is {word} spelled right?;How do you spell {word}? Check it.|¿Está bien escrito {word}?
convert_units|Convert units|value:number:The number:number,from_unit:string:Unit:noun,to_unit:string:Unit:noun|How many {to_unit} are {value} {from_unit}?;Turn {value} {from_unit} into {to_unit}.|Pasa {value} {from_unit} a {to_unit}.
square_root|Square root|x:number:The number:number|Take the root of {x} with the tool.;Root of {x}, by tool.|Saca la raíz de {x} con la herramienta.
flip_coin|Flip a coin||Heads or tails?;Flip a coin.;Toss a coin for me.|¿Cara o cruz?;Lanza una moneda.
get_quote|Get a quote of the day||Give me the quote of the day.;Inspire me with a quote.|Dame la frase del día.
list_users|List all users||Who has an account here?;List everyone.;All users, please.|¿Qué usuarios hay?
take_photo|Take a photo|camera:string:Camera:made|Take a picture with {camera}.;Snap a photo, camera {camera}.|Haz una foto con {camera}.
unlock_phone|Unlock a phone|pin:string:Code:phone|Unlock my phone, the PIN is {pin}.;PIN {pin}, unlock.|Desbloquea el móvil con el PIN {pin}.
call_number|Call a phone number|number:string:Number:phone|Dial {number}.;Ring up {number}.;Give {number} a call.|Marca el {number}.
order_pizza|Order a pizza|kind:string:Kind:noun2,size:integer:In centimetres:int|A {kind} pizza of {size} cm, please.;I am hungry: {kind} pizza, {size} cm.|Una pizza {kind} de {size} cm.
get_calories|Calories of a food|food:string:Food:noun,grams:number:Weight:number|How many calories have {grams} grams of {food}?;Calories: {grams} g {food}|¿Cuántas calorías tienen {grams} gramos de {food}?
log_weight|Write down a weight|kilos:number:Weight:number,date:string:Date:date|On {date} I weighed {kilos} kilos.;Log {kilos} kg for {date}.|El {date} pesé {kilos} kilos.
start_workout|Start a workout|exercise:string:Which:noun,minutes:integer:How long:small|Start {minutes} minutes of {exercise}.;Train {exercise} for {minutes} minutes with me.|Empieza {minutes} minutos de {exercise}.
book_doctor|Book a doctor|doctor:string:Name:full,day:string:Day:day|See doctor {doctor} on {day}.;An appointment with {doctor} for {day}.|Cita con {doctor} el {day}.
assign_task|Give a task to a person|task:string:Task:noun2,person:string:Person:person|{person} takes the task {task}.;Give {task} to {person}.|Dale {task} a {person}.
rate_movie|Rate a film|film:string:Film:noun2,stars:integer:Stars:small|I give {film} {stars} stars.;{stars} stars for the film {film}.|Le doy {stars} estrellas a {film}.
get_lyrics|Lyrics of a song|song:string:Song:noun2,artist:string:Artist:full|Lyrics of {song} by {artist}?;What are the words of {song} ({artist})?|¿Cuál es la letra de {song}, de {artist}?
scan_barcode|Read a barcode|image:string:Picture:file|Read the barcode in {image}.;What product is on {image}?|Lee el código de barras de {image}.
deploy_app|Deploy an app|app:string:App:made,environment:string:Where:made|Deploy {app} to {environment}.;Bring {app} live on {environment}.|Despliega {app} en {environment}.
restart_service|Restart a service|service:string:Service:made|Restart {service}.;{service} hangs, start it again.|Reinicia {service}.
get_logs|Get the last log lines|service:string:Service:made,lines:integer:How many:int|Show {lines} log lines of {service}.;Last {lines} lines from {service}?|Últimas {lines} líneas de {service}.
"""
