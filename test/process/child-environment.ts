/** Variables for a preload of the test run (`NODE_OPTIONS`) and for programs; never settings of the product. */
const PASSED_ON = /^(?:PATH|HOME|NODE_OPTIONS)$/;

/**
 * The environment of a child process under test: it has only the test's settings, independent of the environment
 * of the test run, and the same preload.
 */
export function childEnvironment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const passedOn = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passedOn), ...settings };
}
