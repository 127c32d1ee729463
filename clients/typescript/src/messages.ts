/** What the service says of a listed domain, by language. */
const LISTED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    en: "Please use a permanent email address.",
    de: "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.",
    fr: "Veuillez utiliser une adresse e-mail permanente.",
    es: "Utilice una dirección de correo permanente.",
    it: "Utilizzi un indirizzo e-mail permanente.",
    pt: "Utilize um endereço de e-mail permanente.",
    nl: "Gebruik een permanent e-mailadres.",
    pl: "Użyj stałego adresu e-mail.",
  }),
);

/** In the language of a BCP 47 tag, or in English. */
export const listedMessage = (tag: unknown = "en"): string =>
  LISTED.get(String(tag).toLowerCase().split("-", 1)[0] ?? "") ?? LISTED.get("en") ?? "";
