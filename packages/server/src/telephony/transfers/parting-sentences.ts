/** What a called person hears before they are hung up, because the caller cannot be connected any more. Pure. */

export interface PartingSentences {
  /** The caller has hung up. */
  readonly gone: string;
  readonly unconnected: string;
}

const ENGLISH: PartingSentences = {
  gone: "Sorry, the caller has hung up. Goodbye.",
  unconnected: "Sorry, the caller cannot be connected. Goodbye.",
};

const SENTENCES: Readonly<Record<string, PartingSentences>> = {
  en: ENGLISH,
  de: {
    gone: "Der Anrufer hat leider aufgelegt. Auf Wiederhören.",
    unconnected: "Der Anrufer kann leider nicht verbunden werden. Auf Wiederhören.",
  },
  es: {
    gone: "Lo siento, la persona que llamaba ha colgado. Adiós.",
    unconnected: "Lo siento, no se puede conectar la llamada. Adiós.",
  },
  fr: {
    gone: "Désolé, la personne a raccroché. Au revoir.",
    unconnected: "Désolé, l'appel ne peut pas être transféré. Au revoir.",
  },
  it: {
    gone: "Mi dispiace, chi chiamava ha riattaccato. Arrivederci.",
    unconnected: "Mi dispiace, la chiamata non può essere collegata. Arrivederci.",
  },
  nl: {
    gone: "Sorry, de beller heeft opgehangen. Tot ziens.",
    unconnected: "Sorry, de beller kan niet worden doorverbonden. Tot ziens.",
  },
  pt: {
    gone: "Lamento, a pessoa desligou. Adeus.",
    unconnected: "Lamento, a chamada não pode ser ligada. Adeus.",
  },
};

/** English where the hint is none, or of another language. */
export function partingSentences(languageHint: string | null): PartingSentences {
  const [language = ""] = (languageHint ?? "").toLowerCase().split(/[-_]/);
  return SENTENCES[language] ?? ENGLISH;
}
