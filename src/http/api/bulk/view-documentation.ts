import { sessionNotFound, tooManyStreams } from "../../../base/refusals.ts";
import { RESOURCES } from "../../../base/resources.ts";
import { Type } from "../../../core/json-schema.ts";
import {
  apiError,
  COMMON_ERRORS,
  EXAMPLE_ID,
  pathParameter,
  queryParameter,
} from "../../openapi/openapi.ts";
import {
  byGet,
  type MediaType,
  type Operation,
  type PathItem,
  type Response,
} from "../../answer/operation.ts";

const session = pathParameter("session", "As the bulk response names it.", EXAMPLE_ID);
const PROGRESS = {
  session: EXAMPLE_ID,
  status: "processing",
  email_count: 12_000,
  processed_count: 4_500,
};

const shape = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = Type.String();

const ERRORS: Readonly<Record<string, Response>> = {
  ...COMMON_ERRORS,
  404: apiError("Unknown, malformed, expired, deleted or another owner's.", sessionNotFound()),
};

const json = (...names: readonly string[]): MediaType => ({
  schema: Type.Unsafe<unknown>({ oneOf: names.map(shape) }),
  examples: { processing: { value: PROGRESS } },
});

const unfinished = json("Progress");

function reading(
  [operationId, summary]: readonly [operationId: string, summary: string],
  description: string,
  content: Readonly<Record<string, MediaType>>,
): Operation {
  return {
    operationId,
    summary,
    description,
    tags: ["bulk"],
    parameters: [session],
    responses: { 200: { description, content }, ...ERRORS },
  };
}

const list: Operation = {
  ...reading(
    ["viewSession", "Read the valid entries of a batch, or how far it is"],
    "Plain text, one valid entry per line, once it is finished; else JSON. Look at the content type first.",
    {
      "text/plain": { schema: text, example: "ada@example.org\nexample.com" },
      "application/octet-stream": { schema: text },
      "application/json": json("Progress", "Completed"),
    },
  ),
  parameters: [
    session,
    queryParameter("download", "`1`: as a file. Also as path suffix.", "1"),
    queryParameter(
      "separator",
      "`1`: all in one line, separated by commas. Also as path suffix; `separate` and `comma` are the same.",
      "1",
    ),
  ],
};

const results = reading(
  ["viewSessionJson", "Read all results of a batch"],
  "All results, streamed.",
  {
    "application/json": json("SessionResults", "Progress"),
  },
);

const table = reading(
  ["viewSessionCsv", "Read all results of a batch as CSV"],
  "RFC 4180 with a header row; the columns of an upload are kept. A cell that begins like a formula gets a '.",
  { "text/csv": { schema: text }, "application/json": unfinished },
);

const followed = reading(
  ["followSession", "Follow a batch"],
  "`progress` events with the progress object, at most one a second, the last one `completed` or `failed`.",
  {
    "text/event-stream": {
      schema: text,
      example: `event: progress\ndata: ${JSON.stringify(PROGRESS)}\n\n`,
    },
  },
);

const events: Operation = {
  ...followed,
  responses: {
    ...followed.responses,
    429: apiError(
      "The rate is spent, or the owner has too many open streams.",
      tooManyStreams(RESOURCES.event_streams.perOwner),
    ),
  },
};

const removal: Operation = {
  operationId: "deleteSession",
  summary: "Cancel a job, or forget its results",
  description:
    "Entries that no worker has begun are refunded; those that DNS was asked for are not.",
  tags: ["bulk"],
  parameters: [session],
  responses: {
    200: {
      description: "The session is gone.",
      content: { "application/json": { schema: shape("Removed") } },
    },
    ...ERRORS,
  },
};

export const viewDocumentation: Readonly<Record<string, PathItem>> = {
  "/api/view/{session}": { ...byGet(list), delete: removal },
  "/api/view/{session}/json": byGet(results),
  "/api/view/{session}/csv": byGet(table),
  "/api/view/{session}/events": byGet(events),
};
