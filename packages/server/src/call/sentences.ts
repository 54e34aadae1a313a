/**
 * The engine's own sentences, said when a model or a voice gives it nothing to say.
 * Rule R24 of SPEC.md.
 */

export interface Sentences {
  /** After a reply without anything speakable. */
  readonly sayAgain: string;
  /** Instead of a generated greeting without anything speakable. */
  readonly greeting: string;
  /** Before a call ends because an engine is lost. */
  readonly apology: string;
  /** When every engine of a list has failed, or no recogniser answers. Under 32 characters, so that it is one segment. */
  readonly moment: string;
  /** After another process has taken up the call, where nothing else is to be said. */
  readonly stillThere: string;
}

const ENGLISH: Sentences = {
  sayAgain: "Sorry, I lost my train of thought. Could you say that again, please?",
  greeting: "Hello, how can I help you?",
  apology: "I am sorry, I have a technical problem and must end the call. Goodbye.",
  moment: "One moment, please.",
  stillThere: "I am back. Are you still there?",
};

const SENTENCES: Readonly<Record<string, Sentences>> = {
  en: ENGLISH,
  de: {
    sayAgain: "Entschuldigung, ich habe den Faden verloren. Können Sie das bitte wiederholen?",
    greeting: "Hallo, wie kann ich Ihnen helfen?",
    apology:
      "Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden. Auf Wiederhören.",
    moment: "Einen Moment, bitte.",
    stillThere: "Da bin ich wieder. Sind Sie noch da?",
  },
  fr: {
    sayAgain: "Pardon, j'ai perdu le fil. Pouvez-vous répéter, s'il vous plaît ?",
    greeting: "Bonjour, comment puis-je vous aider ?",
    apology: "Je suis désolé, j'ai un problème technique et je dois mettre fin à l'appel. Au revoir.",
    moment: "Un instant, s'il vous plaît.",
    stillThere: "Me revoilà. Êtes-vous toujours là ?",
  },
  es: {
    sayAgain: "Perdone, he perdido el hilo. ¿Puede repetirlo, por favor?",
    greeting: "Hola, ¿en qué puedo ayudarle?",
    apology: "Lo siento, tengo un problema técnico y debo terminar la llamada. Adiós.",
    moment: "Un momento, por favor.",
    stillThere: "Ya estoy de vuelta. ¿Sigue ahí?",
  },
  it: {
    sayAgain: "Scusi, ho perso il filo. Può ripetere, per favore?",
    greeting: "Buongiorno, come posso aiutarla?",
    apology: "Mi dispiace, ho un problema tecnico e devo terminare la chiamata. Arrivederci.",
    moment: "Un momento, per favore.",
    stillThere: "Eccomi di nuovo. È ancora in linea?",
  },
  pt: {
    sayAgain: "Desculpe, perdi o fio à meada. Pode repetir, por favor?",
    greeting: "Olá, como posso ajudar?",
    apology: "Lamento, tenho um problema técnico e preciso de terminar a chamada. Adeus.",
    moment: "Um momento, por favor.",
    stillThere: "Estou de volta. Ainda está aí?",
  },
  nl: {
    sayAgain: "Sorry, ik ben de draad kwijt. Kunt u dat herhalen, alstublieft?",
    greeting: "Hallo, hoe kan ik u helpen?",
    apology: "Het spijt me, ik heb een technisch probleem en moet het gesprek beëindigen. Tot ziens.",
    moment: "Een ogenblik, alstublieft.",
    stillThere: "Ik ben er weer. Bent u er nog?",
  },
};

/** By the primary part of a BCP 47 tag; English for a language that is not in the table. */
export function sentencesFor(languageHint: string | null): Sentences {
  const primary = (languageHint ?? "en").toLowerCase().split(/[-_]/)[0] ?? "en";
  return SENTENCES[primary] ?? ENGLISH;
}
