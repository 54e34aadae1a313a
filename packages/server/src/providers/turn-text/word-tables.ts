/**
 * Words that show whether an utterance can end with them, by language. Only closed classes: articles, conjunctions,
 * prepositions, auxiliaries, possessives, fillers, answers. All in lower case, without punctuation.
 */

export interface WordTable {
  /** No utterance ends with these: articles, conjunctions, possessives, contracted auxiliaries. */
  readonly never: ReadonlySet<string>;
  /** These sometimes end an utterance ("turn it on", "I know that"), but mostly do not. */
  readonly seldom: ReadonlySet<string>;
  /** Endings of two or more words that never end, or always end, an utterance, whatever their last word. */
  readonly openEndings: readonly string[];
  readonly closedEndings: readonly string[];
  readonly fillers: ReadonlySet<string>;
  /** The words of which complete short answers consist. */
  readonly answers: ReadonlySet<string>;
  /** Digits and numbers as words. */
  readonly digits: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  /** Begin a clause that needs a main clause. */
  readonly subordinators: ReadonlySet<string>;
  /** In the agent's question: how many digits it requests. */
  readonly asksForDigits: readonly { readonly words: RegExp; readonly least: number }[];
  /** With the words of `asksForDigits` in what the user says: the digits of such a number follow. */
  readonly numberNoun: RegExp;
  /** In the agent's question, or in what the user says: letters follow. */
  readonly spelling: RegExp;
  /** Very frequent words that distinguish this language from the others. */
  readonly marks: ReadonlySet<string>;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ""));
}

function phrases(text: string): readonly string[] {
  return text
    .split("|")
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "");
}

const ENGLISH: WordTable = {
  never:
    words(`a an the my your our their its and or but because cause although though unless whether than of from
    into onto between among during without toward towards per via i'm it's that's there's what's where's who's how's he's
    she's you're we're they're i've we've you've i'll we'll you'll i'd we'd let's i each every if while until nor`),
  seldom:
    words(`with at by for to on in about as is are was am were be been will would can could should shall may must
    might do does did has have had don't doesn't didn't can't couldn't won't wouldn't isn't aren't not very so that which
    who where when how what why like her his some any this these those just also then maybe around after before near
    under over want need wants needs think thinks say says mean looking since more`),
  openEndings:
    phrases(`i would like|i'd like|we would like|we'd like|i want|i need|i think|i mean|i guess that|you know
    |let me see|let me think|let me|let's see|my name|my number|my address|my name is|the number is|can you|could you
    |would you|will you|can i|could i|may i|do you|i was wondering|how about|what about|ask not|and then|and so|so that
    |such as|in order|a little|a lot of|kind of|sort of|one of|going to|have to|want to|like to|need to|used to|able to
    |trying to|due to|i would|i could|i should|i will|i can|there is|there are|it is|that is|this is|which is
    |i am|we are|they are|is not|do not|does not|did not|can not|will not|would not|should not|on the one hand`),
  closedEndings:
    phrases(`i think so|i hope so|i guess so|i believe so|i don't think so|i say so|i suppose so|not so
    |even so|or so|i think not|i hope not|i guess not|why not|of course not|maybe not|or not|rather not|perhaps not
    |certainly not|absolutely not|probably not|definitely not|i'd love to|i would love to|come on|go on|hold on|come in
    |log in|check in|turn it on|turn it off|move on|later on|i do|i don't|i did|i didn't|i can't|i won't|i have|i haven't
    |yes i can|yes i will|yes i would|yes i am|no i'm not|i am not|i'm not|me too|you too|that's that|like that
    |i like that|all of this|forget about it|thank you so|what for|how come|who is it|what is that|who is this
    |what is this|where it is|what it is|where they are|any more|no more|once more|the day before|the day after
    |how are you|who are you|where are you|see you then|not any more|some more|nothing more|what do you think|what you mean
    |what do you mean|as you like|if you like|if you want|the one i want|what i want|what i need|all i need|all i want`),
  fillers: words("um uh er erm hmm hm ehm uhm well eh mmm"),
  answers:
    words(`yes yeah yep yup no nope nah ok okay sure right correct exactly absolutely definitely please thanks thank
    you fine great good perfect never maybe perhaps none nothing both neither either today tomorrow tonight now later
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
    october november december course not of yesterday`),
  digits: words("zero oh one two three four five six seven eight nine double triple"),
  numbers:
    words(`ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty
    fifty sixty seventy eighty ninety hundred thousand million first second third`),
  subordinators: words(`if when because although unless while since whenever once until whereas`),
  asksForDigits: [
    { words: /\b(card number|credit card|debit card)\b/, least: 15 },
    { words: /\b(phone|telephone|mobile|cell|call you back|reach you)\b/, least: 9 },
    { words: /\b(zip|post ?code|postal code)\b/, least: 5 },
    {
      words: /\b(pin|last four|security code|digits?|code|account number|order number|number is)\b/,
      least: 4,
    },
  ],
  numberNoun: /\b(number|code)\b/,
  spelling: /\b(spell(ed|t|ing|s)?|letter by letter)\b/,
  marks:
    words(`the and you to is of it that for i my what not have this with are was do can would like yes please we
    he she they there be if how but or an at i'm it's don't your so me`),
};

const GERMAN: WordTable = {
  never:
    words(`der das ein eine einen einem einer eines mein meine meinen meinem meiner dein deine ihr ihre ihren
    unser unsere und oder aber sondern denn weil dass wenn ob obwohl damit als von beim zum zur vom ins im für ohne durch
    gegen zwischen wegen während ich wir seit`),
  seldom:
    words(`die den dem mit in an zu bei nach auf aus um über unter vor möchte will kann muss soll würde hätte bin
    habe ist war wird werde sind haben hat können müssen nicht sehr noch auch dann wie was wo wer welche welcher also
    nur so sein ungefähr etwa etwas mehr jeden jede bis er sie es wäre könnte`),
  openEndings:
    phrases(`ich möchte|ich hätte gern|ich hätte gerne|ich würde|ich brauche|ich glaube|ich denke|ich meine
    |ich suche|mein name|mein name ist|ich heiße|meine nummer|meine nummer ist|können sie|könnten sie|kann ich|haben sie
    |wissen sie|mal sehen|moment mal ich|und dann|und zwar|zum beispiel|so etwas wie|es gibt|das ist|es ist|frage nicht`),
  closedEndings:
    phrases(`ich glaube nicht|ich denke nicht|ich weiß nicht|ich weiß es nicht|warum nicht|lieber nicht
    |noch nicht|natürlich nicht|gar nicht|überhaupt nicht|eher nicht|leider nicht|ich auch|auch nicht|wie bitte
    |das war es|das ist es|nichts mehr|nicht mehr|kommen sie mit|ich komme mit|wie geht es|wie spät ist es|wo ist es
    |was ist das|wer ist das|wer sind sie|wo sind sie|so ist es|ja ich bin|das bin ich|hören sie auf|mach es an
    |geht so|ach so|wie viel kostet es|ich will es|kann sein|das kann sein|ja bitte|gern|gerne`),
  fillers: words("äh ähm ehm öhm hm hmm tja naja ne öh halt sozusagen"),
  answers:
    words(`ja jawohl jo nein nee ne doch okay ok klar genau richtig gut gern gerne sicher natürlich stimmt bitte
    danke vielleicht nie niemals keine keiner keins nichts beide beides heute morgen gestern jetzt später schön perfekt
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar februar märz april mai juni juli
    august september oktober november dezember auf keinen fall`),
  digits: words("null eins ein zwei zwo drei vier fünf sechs sieben acht neun doppel"),
  numbers:
    words(`zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig
    fünfzig sechzig siebzig achtzig neunzig hundert tausend erste zweite dritte`),
  subordinators: words("wenn weil obwohl falls während nachdem bevor sobald da damit"),
  asksForDigits: [
    { words: /\b(kartennummer|kreditkarte)\b/, least: 15 },
    { words: /(telefonnummer|handynummer|mobilnummer|rückrufnummer|rufnummer)/, least: 8 },
    { words: /\b(postleitzahl|plz)\b/, least: 5 },
    { words: /\b(pin|ziffern|code|kundennummer|bestellnummer|kontonummer)\b/, least: 4 },
  ],
  numberNoun: /(nummer|postleitzahl|plz)\b/,
  spelling: /\b(buchstabier\w*|geschrieben|schreibt sich)\b/,
  marks:
    words(`der die das und ich nicht ist ein eine zu mit sie es wir haben für auf möchte ja nein bitte wie was mein
    den dem von im auch kann habe bin wo wer noch gern`),
};

const FRENCH: WordTable = {
  never:
    words(`le la les un une des du mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs et ou mais car
    parce que qui dont si comme de d' à au aux pour dans chez vers entre je j'ai j'aimerais c'est il elle on nous qu'
    l' sur chaque sans puisque lorsque quand`),
  seldom:
    words(`avec par en est suis sont était ai as a avons avez ont peux peut pouvez veux voudrais vais va allez ne
    très plus aussi alors donc quel quelle où quoi comment pas presque environ vous tu ce cette ces jusqu'à ils elles
    avoir être faire`),
  openEndings:
    phrases(`je voudrais|j'aimerais|je veux|je cherche|je pense|je crois|mon nom|mon nom est|je m'appelle
    |mon numéro|mon numéro est|est-ce que|pouvez vous|pouvez-vous|pourriez-vous|pourriez vous|est-ce que vous|je pense que
    |il y a|et puis|et alors|par exemple|à cause|parce que|c'est à dire|attendez je|vous avez|avez-vous|je suis|je vais
    |j'ai besoin|il faut|un peu de|beaucoup de`),
  closedEndings:
    phrases(`je ne sais pas|je ne pense pas|je ne crois pas|je crois pas|pourquoi pas|pas du tout|moi aussi
    |moi non plus|non plus|comme ça|c'est tout|s'il vous plaît|s'il te plaît|c'est ça|il y en a|on y va|allez-y
    |comment allez-vous|comment allez vous|ça va|je peux|je veux bien|je l'ai|bien sûr que oui|bien sûr que non
    |quand vous voulez|comme vous voulez|merci à vous|et vous|et toi|qui est-ce|je viens avec|encore plus|jamais plus
    |qu'est-ce que c'est|où est-ce|avec vous|pour vous|ce que je veux`),
  fillers: words("euh heu hum bah ben hein eh bon"),
  answers:
    words(`oui ouais non si d'accord ok okay bien sûr merci exactement voilà parfait peut-être jamais rien aucun
    aucune aujourd'hui demain hier maintenant plus tard lundi mardi mercredi jeudi vendredi samedi dimanche janvier février
    mars avril mai juin juillet août septembre octobre novembre décembre volontiers pas deux`),
  digits: words("zéro un une deux trois quatre cinq six sept huit neuf double"),
  numbers:
    words(`dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent mille
    premier deuxième troisième`),
  subordinators: words("si quand lorsque puisque comme"),
  asksForDigits: [
    { words: /(carte bancaire|numéro de carte|carte bleue)/, least: 15 },
    { words: /(téléphone|portable|vous rappeler)/, least: 10 },
    { words: /(code postal)/, least: 5 },
    { words: /\b(code|chiffres|numéro de (client|commande|compte))\b/, least: 4 },
  ],
  numberNoun: /\b(numéro|code postal)\b/,
  spelling: /(épel|s'écrit)/,
  marks:
    words(`le la les et je vous est pas une des que pour dans oui non c'est merci bonjour mon avec il elle nous
    voudrais très bien sur j'ai du au ne`),
};

const SPANISH: WordTable = {
  never:
    words(`el la los las un una unos unas mi mis tu tus su sus nuestro nuestra y o pero porque que si aunque
    de del al para con por en desde hasta entre sin sobre hacia yo cada como cuando mientras e u ni`),
  seldom:
    words(`a es son soy estoy está están era fue tengo tiene tienes quiero quisiera puedo puede podría voy va
    no muy más también entonces qué quién dónde cuál cómo casi unos me te se lo le este esta ese esa hay he ha`),
  openEndings:
    phrases(`quiero|quisiera|me gustaría|necesito|busco|creo que|pienso que|mi nombre|mi nombre es|me llamo
    |mi número|mi número es|puede usted|podría|puedo|tiene usted|a ver|y luego|y entonces|por ejemplo|o sea|es decir|tengo que
    |hay que|voy a|me gustaría saber|un poco de|yo creo|yo soy`),
  closedEndings:
    phrases(`no sé|no lo sé|creo que no|creo que sí|espero que no|por qué no|claro que no|claro que sí
    |yo también|yo tampoco|por favor|así es|ya está|eso es todo|eso es|nada más|no más|no hay|sí hay|cómo está
    |qué es|quién es|dónde está|cómo estás|no puedo|no quiero|sí quiero|sí puedo|yo no|ahora no|todavía no|de nada
    |ya voy|cuando quiera|como quiera|lo que quiero|no la tengo|no lo tengo|sí lo tengo|no me gusta`),
  fillers: words("eh em este pues mmm ehm bueno hum"),
  answers:
    words(`sí si no vale claro bueno gracias exacto exactamente correcto perfecto quizás tal vez nunca nada
    ninguno ninguna hoy mañana ayer ahora luego después lunes martes miércoles jueves viernes sábado domingo enero
    febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ok okay de acuerdo por favor
    supuesto`),
  digits: words("cero uno una un dos tres cuatro cinco seis siete ocho nueve doble"),
  numbers:
    words(`diez once doce trece catorce quince veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa
    cien ciento mil primero segundo tercero`),
  subordinators: words("si cuando porque aunque mientras como"),
  asksForDigits: [
    { words: /(tarjeta)/, least: 15 },
    { words: /(teléfono|móvil|celular)/, least: 9 },
    { words: /(código postal)/, least: 5 },
    { words: /(código|dígitos|cifras|número de (cliente|pedido|cuenta))/, least: 4 },
  ],
  numberNoun: /(número|código postal)/,
  spelling: /(deletre|se escribe)/,
  marks:
    words(`el la los de que y en un una no es por con para sí gracias hola quiero mi tengo está muy favor yo me lo
    cómo qué usted se al del`),
};

export const WORD_TABLES: ReadonlyMap<string, WordTable> = new Map([
  ["en", ENGLISH],
  ["de", GERMAN],
  ["fr", FRENCH],
  ["es", SPANISH],
]);
