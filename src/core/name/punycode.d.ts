declare module "punycode/punycode.js" {
  const punycode: {
    readonly decode: (text: string) => string;
    readonly encode: (text: string) => string;
  };
  export default punycode;
}
