/** The language in which a carrier reads a text aloud. Pure. */

/** Carriers know languages with a region only. */
const REGIONS: Readonly<Record<string, string>> = {
  da: "da-DK",
  de: "de-DE",
  en: "en-US",
  es: "es-ES",
  fi: "fi-FI",
  fr: "fr-FR",
  it: "it-IT",
  ja: "ja-JP",
  ko: "ko-KR",
  nb: "nb-NO",
  nl: "nl-NL",
  pl: "pl-PL",
  pt: "pt-PT",
  ru: "ru-RU",
  sv: "sv-SE",
  zh: "zh-CN",
};

/** Null: the carrier's own, where the hint is none, or of a language that not every carrier reads. */
export function spokenLanguage(languageHint: string | null): string | null {
  const [, language = "", region] = /^([a-z]{2})(?:[-_]([a-z]{2}))?$/i.exec(languageHint ?? "") ?? [];
  const usual = REGIONS[language.toLowerCase()];
  if (usual === undefined || region === undefined) return usual ?? null;
  return `${language.toLowerCase()}-${region.toUpperCase()}`;
}
