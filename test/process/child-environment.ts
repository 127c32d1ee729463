/** What a preload of the test run (`NODE_OPTIONS`) reads, and what programs need; never a setting of the product. */
const PASSED_ON = /^(?:PATH|HOME|NODE_OPTIONS|UNEVEN_\w+)$/;

/**
 * The environment of a child process under test: its settings are those of the test alone, whatever is set where
 * the tests run, and it runs under the same preload as they do.
 */
export function childEnvironment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const passedOn = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name));
  return { ...Object.fromEntries(passedOn), ...settings };
}
