/** The sentence of a voice preview, by language. */

export interface PreviewSentence {
  readonly text: string;
  /** Language of the text, BCP 47. */
  readonly language: string;
}

const ENGLISH = "Hello! This is how I sound. How can I help you today?";

/** Sentences by primary subtag. About three seconds of speech each. */
const SENTENCES: Readonly<Record<string, string>> = {
  ar: "مرحباً! هكذا يبدو صوتي. كيف يمكنني مساعدتك اليوم؟",
  bg: "Здравейте! Така звуча аз. С какво мога да ви помогна днес?",
  bn: "নমস্কার! আমার কণ্ঠ এমন শোনায়। আজ আপনাকে কীভাবে সাহায্য করতে পারি?",
  ca: "Hola! Així és com sono. En què us puc ajudar avui?",
  cs: "Dobrý den! Takhle zním. Jak vám dnes mohu pomoci?",
  da: "Hej! Sådan lyder jeg. Hvad kan jeg hjælpe dig med i dag?",
  de: "Hallo! So klinge ich. Wie kann ich Ihnen heute helfen?",
  el: "Γεια σας! Έτσι ακούγομαι. Πώς μπορώ να σας βοηθήσω σήμερα;",
  en: ENGLISH,
  es: "¡Hola! Así sueno yo. ¿En qué puedo ayudarle hoy?",
  et: "Tere! Niimoodi ma kõlan. Kuidas saan teid täna aidata?",
  fa: "سلام! صدای من این‌طور است. امروز چطور می‌توانم کمکتان کنم؟",
  fi: "Hei! Tältä minä kuulostan. Miten voin auttaa tänään?",
  fil: "Kumusta! Ganito ang boses ko. Paano kita matutulungan ngayon?",
  fr: "Bonjour ! Voici ma voix. Comment puis-je vous aider aujourd'hui ?",
  he: "שלום! כך אני נשמע. איך אפשר לעזור לך היום?",
  hi: "नमस्ते! मेरी आवाज़ ऐसी है। आज मैं आपकी कैसे मदद करूँ?",
  hr: "Pozdrav! Ovako zvučim. Kako vam danas mogu pomoći?",
  hu: "Jó napot! Így szólok. Miben segíthetek ma?",
  id: "Halo! Begini suara saya. Apa yang bisa saya bantu hari ini?",
  it: "Ciao! Ecco come suono. Come posso aiutarla oggi?",
  ja: "こんにちは。これが私の声です。今日は何をお手伝いしましょうか。",
  ko: "안녕하세요! 제 목소리는 이렇습니다. 오늘 무엇을 도와드릴까요?",
  lt: "Sveiki! Taip aš skambu. Kuo galiu jums šiandien padėti?",
  lv: "Labdien! Tā es skanu. Kā es varu jums šodien palīdzēt?",
  ms: "Helo! Beginilah bunyi suara saya. Apa yang boleh saya bantu hari ini?",
  nb: "Hei! Slik høres jeg ut. Hva kan jeg hjelpe deg med i dag?",
  nl: "Hallo! Zo klink ik. Waarmee kan ik u vandaag helpen?",
  pl: "Dzień dobry! Tak brzmi mój głos. W czym mogę dziś pomóc?",
  pt: "Olá! É assim que eu soo. Como posso ajudar hoje?",
  ro: "Bună ziua! Așa sun eu. Cu ce vă pot ajuta astăzi?",
  ru: "Здравствуйте! Вот так я звучу. Чем могу помочь сегодня?",
  sk: "Dobrý deň! Takto zniem. Ako vám dnes môžem pomôcť?",
  sl: "Pozdravljeni! Tako zvenim. Kako vam lahko danes pomagam?",
  sr: "Здраво! Овако звучим. Како могу да вам помогнем данас?",
  sv: "Hej! Så här låter jag. Vad kan jag hjälpa dig med i dag?",
  sw: "Habari! Hivi ndivyo ninavyosikika. Nikusaidie vipi leo?",
  ta: "வணக்கம்! என் குரல் இப்படித்தான் இருக்கும். இன்று நான் உங்களுக்கு எப்படி உதவலாம்?",
  te: "నమస్కారం! నా గొంతు ఇలా ఉంటుంది. ఈ రోజు మీకు ఎలా సహాయం చేయగలను?",
  th: "สวัสดีค่ะ นี่คือเสียงของฉัน วันนี้ให้ช่วยอะไรดีคะ",
  tr: "Merhaba! Sesim böyle. Bugün size nasıl yardımcı olabilirim?",
  uk: "Вітаю! Ось так я звучу. Чим можу допомогти сьогодні?",
  ur: "السلام علیکم! میری آواز ایسی ہے۔ آج میں آپ کی کیا مدد کر سکتا ہوں؟",
  vi: "Xin chào! Đây là giọng của tôi. Hôm nay tôi có thể giúp gì cho bạn?",
  zh: "你好！这就是我的声音。今天我能帮您什么？",
};

/** Other spellings of the same languages. */
const SAME: Readonly<Record<string, string>> = {
  no: "nb",
  nn: "nb",
  iw: "he",
  in: "id",
  tl: "fil",
  yue: "zh",
};

const ENTRIES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SENTENCES),
  ...Object.entries(SAME).map(([subtag, known]) => [subtag, SENTENCES[known] ?? ENGLISH] as const),
]);

/** @param language BCP 47; null, or one without a sentence here: English */
export function previewSentence(language: string | null): PreviewSentence {
  const text = ENTRIES.get(language?.split("-", 1)[0]?.toLowerCase() ?? "");
  return text === undefined || language === null ? { text: ENGLISH, language: "en" } : { text, language };
}
