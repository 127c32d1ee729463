import { Socket as DatagramSocket } from "node:dgram";
import { Server, Socket } from "node:net";
import { later, laterInTurn, replace } from "./late.ts";

/** Node's internals of a socket; there is no other way to delay like a network. */
interface Handle {
  reading: boolean;
  /** An HTTP server's parser bypasses the socket unless another reader came first. */
  _consumed?: boolean;
  readStart(): unknown;
  readStop(): unknown;
}
interface Connecting {
  oncomplete?: (...args: unknown[]) => void;
}
interface Inside {
  readonly _handle: (Handle & Record<string, unknown>) | null;
}
type Line = Socket & Inside;

/** Data that is read, and its end. "Not yet" makes the socket read no more until then. */
function lateReads(): void {
  replace(
    Socket.prototype,
    "push",
    (real) =>
      function (this: Line, ...args: [chunk: unknown, encoding?: BufferEncoding]) {
        laterInTurn(this, () => {
          if (this.destroyed) return;
          Reflect.apply(real, this, args);
          if (args[0] === null) this.read(0); // an unread socket must see its end
        });
        return false;
      },
  );
}

/** Like a system's buffer: data that fits is accepted at once and sent late. */
const BUFFER_BYTES = 65_536;

type Send = () => unknown;
const unsent = new Map<Socket, { bytes: number; readonly sends: Send[] }>();

function sendAll(socket: Socket): void {
  const buffer = unsent.get(socket);
  unsent.delete(socket);
  for (const send of buffer?.sends ?? []) send();
}

const isTcp = ({ _handle: handle }: Line): boolean => handle?.constructor.name === "TCP";

type Chunk = string | Uint8Array;
type Done = (error?: Error | null) => void;

/** Puts a write into the buffer; false without a buffer or room. */
function isBuffered(line: Line, bytes: number, send: (done: Done) => unknown): boolean {
  if (!isTcp(line) || line.connecting) return false;
  let buffer = unsent.get(line);
  if ((buffer?.bytes ?? 0) + bytes > BUFFER_BYTES) {
    sendAll(line);
    return false;
  }
  if (buffer === undefined) {
    unsent.set(line, (buffer = { bytes: 0, sends: [] }));
    later(() => sendAll(line));
  }
  buffer.bytes += bytes;
  buffer.sends.push(() =>
    send((error) => {
      if (error) line.destroy(error);
    }),
  );
  return true;
}

const sizeOf = (chunk: Chunk): number => Buffer.byteLength(chunk);

/** Written data arrives late: connections overtake each other. */
function lateWrites(): void {
  replace(
    Socket.prototype,
    "_write",
    (real) =>
      function (this: Line, chunk: Chunk, encoding: string, done: Done) {
        const send = (sent: Done): unknown => Reflect.apply(real, this, [chunk, encoding, sent]);
        if (isBuffered(this, sizeOf(chunk), send)) done();
        else send(done);
      },
  );
  replace(
    Socket.prototype,
    "_writev",
    (real) =>
      function (this: Line, chunks: readonly { readonly chunk: Chunk }[], done: Done) {
        const send = (sent: Done): unknown => Reflect.apply(real, this, [chunks, sent]);
        const bytes = chunks.reduce((sum, { chunk }) => sum + sizeOf(chunk), 0);
        if (isBuffered(this, bytes, send)) done();
        else send(done);
      },
  );
  // The system sends data written before a connection or process ended.
  for (const end of ["_final", "_destroy"]) replace(Socket.prototype, end, sendingFirst);
  const flush = (): void => {
    for (const line of unsent.keys()) sendAll(line);
  };
  process.on("exit", flush);
  replace(
    process,
    "kill",
    (real) =>
      function (this: unknown, pid: number, signal: unknown) {
        if (pid === process.pid) flush();
        return Reflect.apply(real, this, [pid, signal]);
      },
  );
}

const sendingFirst = (real: (...args: never[]) => unknown) =>
  function (this: Line, ...args: unknown[]) {
    sendAll(this);
    return Reflect.apply(real, this, args);
  };

/** A connection, or its refusal, is reported late. */
function lateConnects(): void {
  replace(
    Socket.prototype,
    "connect",
    (real) =>
      function (this: Line, ...args: unknown[]) {
        const connecting: unknown = Reflect.apply(real, this, args);
        const handle = this._handle;
        if (handle === null || !isTcp(this)) return connecting;
        for (const name of ["connect", "connect6"]) replace(handle, name, lateCompletion);
        return connecting;
      },
  );
}

const lateCompletion = (dial: (...args: never[]) => unknown) =>
  function (this: Handle, request: Connecting, ...args: unknown[]) {
    const { oncomplete } = request;
    const late = (...what: unknown[]): void =>
      later(() => {
        // Node removes it from an attempt that it has given up.
        if (request.oncomplete === late) oncomplete?.apply(request, what);
      });
    request.oncomplete = late;
    return Reflect.apply(dial, this, [request, ...args]) as unknown;
  };

/** A connection is accepted late; until then it is not read. */
function lateAccepts(): void {
  replace(
    Server.prototype,
    "emit",
    (real) =>
      function (this: Server, name: string, ...args: unknown[]) {
        const emit = (): unknown => Reflect.apply(real, this, [name, ...args]);
        const [line] = args;
        if (name !== "connection" || !(line instanceof Socket)) return emit();
        const { _handle: handle } = line as Line;
        if (handle === null) return emit();
        handle._consumed = true;
        handle.reading = false;
        handle.readStop();
        laterInTurn(this, () => {
          // Like a system with waiting connections of a closed listener.
          if (!this.listening) line.resetAndDestroy();
          else if (!line.destroyed) {
            handle.reading = true;
            handle.readStart();
            emit();
          }
        });
        return true;
      },
  );
}

/** Datagrams are late and overtake each other; none arrives after the close. */
function lateDatagrams(): void {
  const closed = new WeakSet<DatagramSocket>();
  replace(
    DatagramSocket.prototype,
    "close",
    (real) =>
      function (this: DatagramSocket, ...args: unknown[]) {
        closed.add(this);
        return Reflect.apply(real, this, args) as unknown;
      },
  );
  replace(
    DatagramSocket.prototype,
    "emit",
    (real) =>
      function (this: DatagramSocket, ...args: unknown[]) {
        const emit = (): unknown => Reflect.apply(real, this, args);
        if (args[0] !== "message") return emit();
        later(() => {
          if (!closed.has(this)) emit();
        });
        return true;
      },
  );
}

/** Delays connections and datagrams like a slow network between slow machines. */
export function lateLines(): void {
  lateReads();
  lateWrites();
  lateConnects();
  lateAccepts();
  lateDatagrams();
}
