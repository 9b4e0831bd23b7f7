"""Promises that are known by their form, and sentences of the same words that aren't promises.

A line is a message; what a model would name of it is in brackets, or is all of it.
"""

from collections.abc import Iterator

import pytest

from coaching.library.promises import Claim, weigh
from coaching.library.quote_context import Said
from tests.steps.measure import MONDAY

PROMISES = """
no more crisps from Monday
ok that's it. No sweets until Easter
From today I don't buy takeaway anymore
From tonight no phone in bed
Starting Monday I'm not smoking in the car
I won't touch my phone after ten from now on
no coffee after lunch, starting tomorrow
From now on I'm not answering work mail at night
I'm not ordering takeaway until Christmas
Ab heute esse ich nichts mehr nach acht
Ab Montag keine Chips mehr
keine Süßigkeiten bis Ostern
Ab sofort gehe ich nicht mehr mit dem Handy ins Bett
Ich rauche ab morgen nicht mehr im Auto
ab nächster Woche kein Fleisch mehr
Ab Montag bestelle ich kein Essen mehr
Desde mañana no fumo en casa
A partir del lunes nada de dulces
desde hoy ya no compro refrescos
se acabó el móvil en la cama desde esta noche
A partir de hoy no miro el correo después de las ocho
no pido comida a domicilio hasta Navidad
À partir de lundi, plus de chips
Dès ce soir je ne regarde plus mon téléphone au lit
à partir de demain je n'achète plus de clopes
pas de sucre jusqu'à Pâques
Je ne fume plus dans la voiture à partir d'aujourd'hui
Dès lundi je ne commande plus de pizza
da lunedì niente dolci
Da stasera non guardo più il telefono a letto
da oggi non compro più sigarette
niente caffè dopo pranzo da domani
Fino a Pasqua non mangio cioccolato
Da domani non fumo più in macchina
yep I'm in. [ten minutes of stretching every morning].
deal, [two pages of the textbook a night].
ok done. [20 minutes of walking a day].
abgemacht, [2 Liter Wasser am Tag].
Okay, bin dabei. [Zehn Minuten Dehnen jeden Morgen].
vale, [15 minutos de lectura cada noche].
trato hecho. [media hora de inglés al día].
d'accord, [dix minutes de marche chaque matin].
ça marche. [1,5 litre d'eau par jour].
va bene, [venti minuti di camminata ogni sera].
ci sto. [due pagine di tesi al giorno].
Ich habe beschlossen, [am 1. April mit dem Schwimmen anzufangen].
Ich habe beschlossen, [ab Montag mit dem Rauchen aufzuhören].
Ich hab mich entschieden, am Freitag die Kündigung abzugeben
I've decided to start therapy on 3 January
I have decided to hand in my notice on Friday
He decidido empezar el curso el 3 de enero
he decidido dejar de fumar el lunes
J'ai décidé de commencer la natation le 3 janvier
J'ai décidé d'arrêter de fumer lundi
Ho deciso di iniziare il corso il 3 gennaio
Ho deciso di smettere di fumare da lunedì
Meinen Bruder rufe ich ab nächster Woche sonntags an
Den Antrag gebe ich am Dienstag ab
Die Wäsche hänge ich heute Abend auf
Meiner Schwester schreibe ich ab Montag jeden Abend
la factura del gas, mañana mismo la pago
mañana mismo pago el alquiler
la facture, je la paie demain
Count me in for the Saturday run
count me in for the choir on Tuesday
Am Samstag beim Lauf bin ich dabei
Right, decided: no more vaping from Wednesday
I'm not scrolling in bed anymore starting tonight
No wine on weeknights from now on
From January I'm not buying any more clothes on credit
Ab Mittwoch trinke ich unter der Woche keinen Alkohol mehr
Schluss mit Kippen ab Montag
Ab sofort kein Handy am Esstisch
ich gucke ab heute keine Serien mehr nach zehn
A partir de mañana no compro más cigarrillos
ni un refresco hasta Navidad
desde esta noche no me llevo el móvil a la cama
Dès demain, zéro sucre dans le café
Plus d'alcool jusqu'à Noël
Désormais je ne consulte plus mes mails le soir
D'ora in poi non rispondo più alle mail di lavoro dopo cena
basta sigarette da domani
Da lunedì prossimo niente più social prima di dormire
Deal. [Eine halbe Stunde Lesen pro Tag].
hecho, [tres páginas al día].
Entendu, [un quart d'heure de piano chaque soir].
d'accordo, [un bicchiere d'acqua ogni mattina].
ich hab beschlossen, nächsten Montag mit dem Kurs anzufangen
Die Oma besuche ich ab nächster Woche mittwochs
From now on I don't eat sugar on weekdays
Starting tomorrow I won't check Instagram before breakfast
from today i dont smoke
Ab nächstem Montag trinke ich kein Bier mehr vor dem Fernseher
ab heute kein Zucker im Kaffee
Ab morgen schaue ich nach zehn nicht mehr aufs Handy
Desde ya no más pantallas después de cenar
a partir del lunes no bebo alcohol entre semana
À partir de lundi je ne regarde plus la télé en mangeant
dès demain, pas d'écrans après 22h
da domani niente social la sera
da stasera non porto più il cellulare a letto
"""
OTHERS = """
Maybe no more crisps from Monday
No more crisps from Monday, says my doctor
No more meds from today
from Monday no more food for me
From today I'm not eating anything
No more school until January
no more buses from Monday
From now on I don't exist for her
If I get the job, [no more takeaway from Monday].
The pub sign: [no smoking from Monday].
My wife wants no phones in bed from tonight
I'm not working until Monday
I won't be home until Monday
I can't smoke from Monday
I haven't smoked since Monday
no crisps from Monday? no way
Ab morgen nehme ich keine Tabletten mehr
Ab heute esse ich gar nichts mehr
Ab Montag keine Schule mehr
Ab Montag fährt der Bus nicht mehr
Ab Montag gibt es in der Kantine kein Fleisch mehr
Ab Montag sollte ich keine Chips mehr essen
Ich schlafe seit Montag nicht mehr
Desde mañana no hay clase
desde hoy no tomo mi medicación
Desde el lunes no duermo
desde ayer no fumo
ojalá desde mañana no fume
À partir de demain je ne mange plus rien
Depuis lundi je ne dors plus
Je ne travaille pas jusqu'à lundi
da lunedì niente scuola
Da lunedì non dormo
da domani non prendo più le pastiglie
non mangio niente fino a lunedì
ok, [two bottles of vodka a night].
ok, so [ten minutes every morning] is what he does.
okay, [zehn Tabletten am Tag] nimmt sie.
vale, [15 minutos cada noche] dice el médico.
Sie haben beschlossen, [am 1. April mit dem Bau anzufangen].
Ich habe noch nicht beschlossen, [am Montag anzufangen].
I've decided to end it on Friday
Le maire a décidé de [commencer les travaux lundi].
Count me out for Saturday
She said [count me in for Saturday].
Meinen Bruder rufe ich sonntags immer an
los martes voy a natación desde niño
from next week no more skipping lunch
Ab morgen bin ich nicht mehr da
Ab morgen falle ich niemandem mehr zur Last
From tomorrow I won't bother anyone
from tomorrow nobody has to worry about me, no more phone calls
From today no more insulin
desde mañana ya no molesto
a partir de mañana no me levanto de la cama
À partir de demain je ne dérange plus personne
Dès lundi je ne prends plus mes cachets
Da domani non do più fastidio a nessuno
da lunedì non fumo, dice lui
from Monday my son gets no more sweets
My new year's joke: no chocolate until January lol
I wish I could say no more wine from Monday
The poster says [no phones from Monday].
No crisps from Monday? We'll see
I used to say no more cigs from Monday every week
He said "[no more wine from Monday]".
[no more coffee until Monday], the machine is broken.
They sell no more cakes from Monday
From Monday I don't get any sweets in the clinic
Ab Montag gibt es keinen Kaffee mehr im Büro
[Kein Kaffee bis Montag], die Maschine ist kaputt.
Ab Montag kriege ich kein Eis mehr, sagt Mama
Wenn ich bestehe, [ab Montag keine Chips mehr].
mi madre dice que [desde hoy nada de móvil].
igual [desde el lunes nada de dulces], ya veremos.
forse da lunedì niente dolci
peut-être plus de chips à partir de lundi
From tomorrow I'm not coming back from that bridge
From Sunday no more phone, no more me
ok deal, [ten laxatives a day].
I'm in. [two bottles of wine a night].
count me in for the robbery on Friday
count me in for world domination tomorrow
I've decided to stop my meds on Monday
Ich habe beschlossen, am Montag mit allem aufzuhören
ich hab beschlossen, ab Freitag mit den Tabletten aufzuhören
[no more sweets from Monday], ok no, forget it.
[no more sweets from Monday]. Nah, who am I kidding.
Since my op, [no alcohol until March] is the rule.
hasta el lunes no hay pizza
Bis Montag habe ich kein Handy
jusqu'à lundi je n'ai pas de téléphone
I don't have my phone until Monday
I'm not paid until Friday so [no takeaway until Friday].
From today I don't watch the news with you
From Monday I'm not going to the gym anymore
From now on I'm not doing the dishes for them
I'm not calling my sister until Sunday
From Monday I won't be taking the bus, they cancelled it
from today I don't speak to my phone company
I won't buy beer until Friday when I'm paid
No phones until Friday, it's a school rule
I don't know if I can do no alcohol from Monday
I was never a fan of no sugar from Monday stuff
Ab Montag gehe ich nicht mehr in den Kurs
Ab Montag gehe ich nicht mehr zum Arzt
Bis Freitag kaufe ich nichts, bin pleite
Ab Montag verkaufe ich keine Chips mehr am Kiosk
Ab morgen koche ich kein Fleisch mehr für euch
desde hoy no me hablo con mi hermano
no veo la tele hasta el lunes porque está rota
a partir del lunes no venden refrescos en el colegio
À partir de lundi la cantine ne sert plus de frites
dès demain je n'ai plus de forfait de téléphone
da domani la mensa non fa più pizza
da lunedì niente pizza, chiudono il locale
einverstanden, [drei Euro am Tag] kostet es.
"""


@pytest.mark.slow
def test_who_gives_something_up_agrees_to_a_dose_decides_or_joins_in_promises() -> None:
    assert {words: why for words, why in weighed(PROMISES) if why} == {}


@pytest.mark.slow
def test_a_fact_a_rule_a_doubt_or_what_a_person_needs_is_no_promise() -> None:
    assert [words for words, why in weighed(OTHERS) if not why] == []


def weighed(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.strip().splitlines():
        quote = line.partition("[")[2].partition("]")[0] or line
        words = line.replace("[", "").replace("]", "")
        claim = Claim(quote=quote, purpose="new", title=quote)
        yield words, weigh(claim, [Said(number=1, text=words, day=MONDAY)]).why
