import { FORMAT_WORDS } from "../tables/format-words.ts";
import type { FormatCode, FormatProblem } from "../validate/malformed.ts";
import type { Decision, Messages, Outcome } from "./policy.ts";

/** Languages that every message is there in. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"] as const;
export type Language = (typeof LANGUAGES)[number];

type Words = Readonly<Record<Language, string>>;

const FORMAT: Words = {
  en: "Please enter a complete email address, such as name@example.com.",
  de: "Bitte geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel name@example.com.",
  fr: "Veuillez saisir une adresse e-mail complète, par exemple nom@example.com.",
  es: "Escriba una dirección de correo completa, por ejemplo nombre@example.com.",
  it: "Inserisca un indirizzo e-mail completo, per esempio nome@example.com.",
  pt: "Introduza um endereço de e-mail completo, por exemplo nome@example.com.",
  nl: "Vul een volledig e-mailadres in, bijvoorbeeld naam@example.com.",
  pl: "Podaj pełny adres e-mail, na przykład nazwa@example.com.",
};

const PERMANENT: Words = {
  en: "Please use a permanent email address.",
  de: "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.",
  fr: "Veuillez utiliser une adresse e-mail permanente.",
  es: "Utilice una dirección de correo permanente.",
  it: "Utilizzi un indirizzo e-mail permanente.",
  pt: "Utilize um endereço de e-mail permanente.",
  nl: "Gebruik een permanent e-mailadres.",
  pl: "Użyj stałego adresu e-mail.",
};

const NO_MAIL: Words = {
  en: "This address cannot receive email. Please check the part after the @.",
  de: "Diese Adresse kann keine E-Mails empfangen. Bitte prüfen Sie den Teil nach dem @.",
  fr: "Cette adresse ne peut pas recevoir d'e-mails. Veuillez vérifier la partie après le @.",
  es: "Esta dirección no puede recibir correo. Compruebe la parte que sigue a la @.",
  it: "Questo indirizzo non può ricevere e-mail. Controlli la parte dopo la @.",
  pt: "Este endereço não pode receber e-mails. Verifique a parte depois do @.",
  nl: "Dit adres kan geen e-mail ontvangen. Controleer het deel na de @.",
  pl: "Ten adres nie może odbierać poczty. Sprawdź część po znaku @.",
};

const SPELLING: Words = {
  en: "Please check the spelling of your email address.",
  de: "Bitte prüfen Sie die Schreibweise Ihrer E-Mail-Adresse.",
  fr: "Veuillez vérifier l'orthographe de votre adresse e-mail.",
  es: "Compruebe cómo ha escrito su dirección de correo.",
  it: "Controlli come ha scritto il suo indirizzo e-mail.",
  pt: "Verifique como escreveu o seu endereço de e-mail.",
  nl: "Controleer de spelling van je e-mailadres.",
  pl: "Sprawdź pisownię swojego adresu e-mail.",
};

/** {0} is the address that was probably meant. */
const MEANT: Words = {
  en: "Did you mean {0}?",
  de: "Meinten Sie {0}?",
  fr: "Vouliez-vous dire {0} ?",
  es: "¿Quiso decir {0}?",
  it: "Intendeva {0}?",
  pt: "Queria dizer {0}?",
  nl: "Bedoelde je {0}?",
  pl: "Czy chodziło o {0}?",
};

const PERSONAL: Words = {
  en: "Please use your own email address, not one of a team.",
  de: "Bitte verwenden Sie Ihre eigene E-Mail-Adresse, nicht die einer Abteilung.",
  fr: "Veuillez utiliser votre propre adresse e-mail, pas celle d'un service.",
  es: "Utilice su propia dirección de correo, no la de un departamento.",
  it: "Utilizzi il suo indirizzo e-mail personale, non quello di un ufficio.",
  pt: "Utilize o seu próprio endereço de e-mail, não o de um departamento.",
  nl: "Gebruik je eigen e-mailadres, niet dat van een afdeling.",
  pl: "Użyj własnego adresu e-mail, a nie adresu działu.",
};

const MAIN: Words = {
  en: "Please use your main email address.",
  de: "Bitte verwenden Sie Ihre Haupt-E-Mail-Adresse.",
  fr: "Veuillez utiliser votre adresse e-mail principale.",
  es: "Utilice su dirección de correo principal.",
  it: "Utilizzi il suo indirizzo e-mail principale.",
  pt: "Utilize o seu endereço de e-mail principal.",
  nl: "Gebruik je gewone e-mailadres.",
  pl: "Użyj swojego głównego adresu e-mail.",
};

const WORK: Words = {
  en: "Please use your work email address.",
  de: "Bitte verwenden Sie Ihre geschäftliche E-Mail-Adresse.",
  fr: "Veuillez utiliser votre adresse e-mail professionnelle.",
  es: "Utilice su dirección de correo del trabajo.",
  it: "Utilizzi il suo indirizzo e-mail di lavoro.",
  pt: "Utilize o seu endereço de e-mail profissional.",
  nl: "Gebruik je zakelijke e-mailadres.",
  pl: "Użyj służbowego adresu e-mail.",
};

const LATER: Words = {
  en: "We could not check this address. Please try again in a few minutes.",
  de: "Wir konnten diese Adresse nicht prüfen. Bitte versuchen Sie es in einigen Minuten erneut.",
  fr: "Nous n'avons pas pu vérifier cette adresse. Veuillez réessayer dans quelques minutes.",
  es: "No hemos podido comprobar esta dirección. Inténtelo de nuevo en unos minutos.",
  it: "Non è stato possibile verificare questo indirizzo. Riprovi tra qualche minuto.",
  pt: "Não foi possível verificar este endereço. Tente novamente dentro de alguns minutos.",
  nl: "We konden dit adres niet controleren. Probeer het over een paar minuten opnieuw.",
  pl: "Nie udało się sprawdzić tego adresu. Spróbuj ponownie za kilka minut.",
};

const BURST: Words = {
  en: "We need to look at this sign-up first. Please confirm your address or contact us.",
  de: "Wir müssen diese Anmeldung erst prüfen. Bitte bestätigen Sie Ihre Adresse oder wenden Sie sich an uns.",
  fr: "Nous devons d'abord vérifier cette inscription. Veuillez confirmer votre adresse ou nous contacter.",
  es: "Primero tenemos que revisar este registro. Confirme su dirección o póngase en contacto con nosotros.",
  it: "Dobbiamo prima verificare questa registrazione. Confermi il suo indirizzo o ci contatti.",
  pt: "Temos de verificar primeiro este registo. Confirme o seu endereço ou contacte-nos.",
  nl: "We moeten deze aanmelding eerst bekijken. Bevestig je adres of neem contact met ons op.",
  pl: "Najpierw musimy sprawdzić tę rejestrację. Potwierdź swój adres lub skontaktuj się z nami.",
};

const ANOTHER: Words = {
  en: "Please use another email address.",
  de: "Bitte verwenden Sie eine andere E-Mail-Adresse.",
  fr: "Veuillez utiliser une autre adresse e-mail.",
  es: "Utilice otra dirección de correo.",
  it: "Utilizzi un altro indirizzo e-mail.",
  pt: "Utilize outro endereço de e-mail.",
  nl: "Gebruik een ander e-mailadres.",
  pl: "Użyj innego adresu e-mail.",
};

const CONFIRM: Words = {
  en: "Please confirm that this email address is yours.",
  de: "Bitte bestätigen Sie, dass diese E-Mail-Adresse Ihnen gehört.",
  fr: "Veuillez confirmer que cette adresse e-mail est bien la vôtre.",
  es: "Confirme que esta dirección de correo es suya.",
  it: "Confermi che questo indirizzo e-mail è suo.",
  pt: "Confirme que este endereço de e-mail é seu.",
  nl: "Bevestig dat dit e-mailadres van jou is.",
  pl: "Potwierdź, że ten adres e-mail należy do Ciebie.",
};

const REVIEW: Words = {
  en: "Thank you. We will review your sign-up and write to you.",
  de: "Vielen Dank. Wir prüfen Ihre Anmeldung und schreiben Ihnen.",
  fr: "Merci. Nous allons examiner votre inscription et vous écrire.",
  es: "Gracias. Revisaremos su registro y le escribiremos.",
  it: "Grazie. Esamineremo la sua registrazione e le scriveremo.",
  pt: "Obrigado. Vamos analisar o seu registo e escrever-lhe.",
  nl: "Bedankt. We bekijken je aanmelding en schrijven je.",
  pl: "Dziękujemy. Sprawdzimy Twoją rejestrację i napiszemy do Ciebie.",
};

/** By reason; for other reasons the decision says what to do. None names a list or how to get around it. */
const BY_REASON: Readonly<Record<string, Words>> = {
  format: FORMAT,
  disposable: PERMANENT,
  no_mail_server: NO_MAIL,
  typo: SPELLING,
  role: PERSONAL,
  relay: MAIN,
  alias: MAIN,
  free: WORK,
  burst: BURST,
  unknown: LATER,
};

const BY_DECISION: Readonly<Record<Exclude<Decision, "accept">, Words>> = {
  challenge: CONFIRM,
  review: REVIEW,
  reject: ANOTHER,
};

/** The language of a BCP 47 tag: "de-AT" is "de"; those we have no words in are English. */
export function languageOf(tag: string): Language {
  const primary = tag
    .slice(0, 3)
    .toLowerCase()
    .replace(/[-_].*$/, "");
  return LANGUAGES.find((language) => language === primary) ?? "en";
}

/** One sentence for the person at the form; undefined for an accepted entry. */
export function messageFor(
  { decision, reason, messages }: Outcome,
  { language, meant, problem }: Spoken,
): string | undefined {
  if (decision === "accept") return undefined;
  if (messages !== undefined) return ownMessage(messages, language);
  const spoken = languageOf(language);
  if (decision === "review") return REVIEW[spoken];
  const suggestion = meant === undefined ? undefined : MEANT[spoken].replace("{0}", () => meant);
  if (reason === "format") return formatMessage(spoken, problem?.code, suggestion);
  if (reason === "typo" && suggestion !== undefined) return suggestion;
  const words = Object.hasOwn(BY_REASON, reason) ? BY_REASON[reason] : undefined;
  return (words ?? BY_DECISION[decision])[spoken];
}

export interface Spoken {
  /** A BCP 47 tag. */
  readonly language: string;
  readonly meant: string | undefined;
  /** Of a malformed entry. */
  readonly problem?: FormatProblem | undefined;
}

/** What is wrong with the address, and what it may have been. */
function formatMessage(
  language: Language,
  code: FormatCode | undefined,
  suggestion: string | undefined,
): string {
  const words = code === undefined ? undefined : FORMAT_WORDS[code];
  const fault = words?.[LANGUAGES.indexOf(language)];
  if (suggestion === undefined) return fault ?? FORMAT[language];
  return fault === undefined ? suggestion : `${fault} ${suggestion}`;
}

/** In the language asked for, else in English, else the first. */
function ownMessage(messages: Messages, tag: string): string | undefined {
  const exact = tag.toLowerCase().replaceAll("_", "-");
  const [primary = ""] = exact.split("-");
  const [first] = messages.values();
  return messages.get(exact) ?? messages.get(primary) ?? messages.get("en") ?? first;
}
