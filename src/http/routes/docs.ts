import helmet from "@fastify/helmet";
import swagger, { type StaticDocumentSpec } from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";

/** Everything the rendered documentation needs comes from this server, and nothing may frame it. */
const CONTENT_SECURITY_POLICY = {
  "default-src": ["'none'"],
  "script-src": ["'self'"],
  "style-src": ["'self'"],
  "img-src": ["'self'", "data:"],
  "font-src": ["'self'"],
  "connect-src": ["'self'"],
  "base-uri": ["'none'"],
  "form-action": ["'none'"],
  "frame-ancestors": ["'none'"],
};

/** `/docs`: the OpenAPI document rendered. `openApi` is its text. */
export async function addDocs(app: FastifyInstance, openApi: string): Promise<void> {
  const document: StaticDocumentSpec["document"] = JSON.parse(openApi);
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: CONTENT_SECURITY_POLICY },
    strictTransportSecurity: false, // TLS ends at the operator's proxy, which knows its own names
  });
  await app.register(swagger, { mode: "static", specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    indexPrefix: "",
    uiConfig: { docExpansion: "list", tryItOutEnabled: true, validatorUrl: null },
    theme: { title: "Gatepost API" },
  });
}
