import helmet from "@fastify/helmet";
import swagger, { type StaticDocumentSpec } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import Fastify, { type FastifyInstance } from "fastify";
import type { Log } from "../../base/log.ts";
import { FRAMEWORK_OPTIONS, pageErrors, readNoBodies } from "./framework.ts";

export interface DocsDeps {
  /** The text of the OpenAPI document. */
  readonly openApi: () => string;
  readonly log: Log;
}

/** Everything the rendered documentation needs comes from this server, and nothing may frame it. */
const CONTENT_SECURITY_POLICY = {
  "default-src": ["'none'"],
  "script-src": ["'self'"],
  // The hash is of the one style element that Swagger UI makes.
  "style-src": ["'self'", "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='"],
  "img-src": ["'self'", "data:"],
  "font-src": ["'self'"],
  "connect-src": ["'self'"],
  "base-uri": ["'none'"],
  "form-action": ["'none'"],
  "frame-ancestors": ["'none'"],
};

/** The dashboard's mark. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -1 26 26" width="40" height="40" fill="none" ' +
  'stroke="#8ea2ff" stroke-width="2.6" stroke-linecap="round">' +
  '<path d="M4 2v20M18 2v20M4 8l7 5 7-5M4 17h14"/></svg>';

/** The app behind `/docs`, ready to be given requests; it listens nowhere. */
export async function buildDocsApp({ openApi, log }: DocsDeps): Promise<FastifyInstance> {
  const document: StaticDocumentSpec["document"] = JSON.parse(openApi());
  const app = Fastify(FRAMEWORK_OPTIONS);
  readNoBodies(app);
  answerErrors(app, log);
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CONTENT_SECURITY_POLICY },
    strictTransportSecurity: false, // TLS ends at the operator's proxy, which knows its own names
  });
  await app.register(swagger, { mode: "static", specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    indexPrefix: "",
    uiConfig: { docExpansion: "list", tryItOutEnabled: true, validatorUrl: null },
    logo: { type: "image/svg+xml", content: LOGO, href: "/" },
    theme: {
      title: "Gatepost API",
      favicon: [
        {
          filename: "favicon.svg",
          rel: "icon",
          type: "image/svg+xml",
          sizes: "any",
          content: LOGO,
        },
      ],
    },
  });
  await app.ready();
  return app;
}

function answerErrors(app: FastifyInstance, log: Log): void {
  const { absent, failed } = pageErrors(app, log);
  app.setNotFoundHandler(absent);
  app.setErrorHandler(failed);
}
