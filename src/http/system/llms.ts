/**
 * `/llms.txt`: what this service does, in the words that agents read first (llmstxt.org). `publicUrl` has no trailing
 * slash.
 */
export const llmsText = (publicUrl: string): string => `# Gatepost

> Checks email addresses and domains without sending mail: is the format valid, can mail be received, is it disposable, and why.

Every check answers HTTP 200 with a JSON object; any other status is {"error": "..."}. Look at "format" first, then "disposable" and "dns".
"dns": false with the signal "dns_indeterminate" means that DNS did not answer: retry later, and let the person pass. Mailboxes are not
probed, so nothing says that a mailbox exists. Send a key as X-Api-Key; without one the limits of the client address apply. Wait as long
as Retry-After says.

## API

- [OpenAPI](${publicUrl}/openapi.json): every route, parameter and field
- [Documentation](${publicUrl}/docs): the same for people
- POST ${publicUrl}/api/email with "email": check one address; with "bulk=1&json=1" up to 100 at once
- POST ${publicUrl}/api/domain with "domain": check a domain
- POST ${publicUrl}/api/decide with "email": accept, challenge, review or reject a sign-up
- GET ${publicUrl}/api/explain/{entry}: why, signal by signal; needs a key

## Tools for agents

- gatepost mcp --server ${publicUrl}: a Model Context Protocol server on standard input and output
`;
