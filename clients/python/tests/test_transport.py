import asyncio
import json
import os
import socket
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

from gatepost import AsyncClient, Client, GatepostError

ACCEPT = json.dumps({"decision": "accept", "reason": "ok", "complete": True, "policy": {"name": "default", "version": 1}})


class Service:
    """Accepts everyone, and counts connections."""

    def __enter__(self):
        service = self
        self.connections = 0
        self.requests = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                service.connections += 1
                super().setup()

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                service.requests.append(json.loads(body))
                answer = ACCEPT.encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for piece in (answer[:7], answer[7:], b""):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class TransportTest(unittest.TestCase):
    def test_one_connection_serves_many_questions(self):
        with Service() as service, Client(service.url, deadline_ms=10_000) as client:
            answers = [client.decide("jo@good.example") for _ in range(5)]
            self.assertEqual({answer.source for answer in answers}, {"service"})
            self.assertEqual(service.connections, 1)
            self.assertEqual(service.requests[0], {"email": "jo@good.example", "deadline_ms": 5_000})

    def test_asyncio_keeps_connections_too(self):
        async def ask(url):
            async with AsyncClient(url, deadline_ms=10_000) as client:
                return [(await client.decide("jo@good.example")).source for _ in range(5)]

        with Service() as service:
            self.assertEqual(asyncio.run(ask(service.url)), ["service"] * 5)
            self.assertEqual(service.connections, 1)

    def test_one_client_serves_several_event_loops(self):
        with Service() as service:
            client = AsyncClient(service.url, deadline_ms=10_000)
            for _ in range(2):
                self.assertEqual(asyncio.run(client.decide("jo@good.example")).source, "service")

    def test_a_forked_process_has_connections_of_its_own(self):
        with Service() as service, Client(service.url, deadline_ms=10_000) as client:
            client.decide("jo@good.example")
            child = os.fork()
            if child == 0:
                os._exit(0 if client.decide("jo@good.example").source == "service" else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(client.decide("jo@good.example").source, "service")
            self.assertEqual(service.connections, 2)

    def test_a_resolver_that_hangs_holds_up_one_thread_and_no_answer(self):
        ended = threading.Event()
        calls = []

        def hang(*_, **__):
            calls.append(1)
            ended.wait(60)
            raise socket.gaierror("no answer")

        async def ask():
            async with AsyncClient("http://gatepost.example", deadline_ms=100) as client:
                return [await client.decide("jo@good.example") for _ in range(2)]

        with mock.patch("socket.getaddrinfo", hang):
            with Client("http://gatepost.example", deadline_ms=100) as client:
                answers = [client.decide("jo@good.example") for _ in range(3)]
            self.assertEqual(len(calls), 1)
            answers += asyncio.run(ask())
            self.assertEqual(len(calls), 2)
            ended.set()
        self.assertEqual([(answer.source, answer.fault.kind) for answer in answers], [("away", "timeout")] * 5)

    def test_work_that_goes_on_when_it_is_cancelled_holds_up_no_answer(self):
        class Writer:
            closed = False

            def close(self):
                Writer.closed = True

        async def open_slowly(*_, **__):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return None, Writer()

        async def ask():
            client = AsyncClient("http://127.0.0.1:9", deadline_ms=100)
            with mock.patch("asyncio.open_connection", open_slowly):
                answer = await client.decide("jo@good.example")
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            return answer.fault.kind

        self.assertEqual(asyncio.run(ask()), "timeout")
        self.assertTrue(Writer.closed)

    def test_a_caller_that_gives_up_gets_its_cancellation(self):
        async def give_up(port):
            async with AsyncClient(f"http://127.0.0.1:{port}", deadline_ms=60_000) as client:
                asking = asyncio.ensure_future(client.decide("jo@good.example"))
                _, writer = await connected
                asking.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await asking
                writer.close()

        async def main():
            nonlocal connected
            connected = asyncio.get_running_loop().create_future()
            server = await asyncio.start_server(lambda *streams: connected.set_result(streams), "127.0.0.1", 0)
            async with server:
                await give_up(server.sockets[0].getsockname()[1])

        connected = None
        asyncio.run(main())

    def test_addresses_that_worked_serve_while_the_resolver_is_away(self):
        with Service() as service:
            port = service.server.server_address[1]
            found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
            with Client(f"http://gatepost.example:{port}", deadline_ms=10_000) as client:
                with mock.patch("socket.getaddrinfo", lambda *_, **__: found):
                    self.assertEqual(client.decide("jo@good.example").source, "service")
                client.close()
                away = mock.Mock(side_effect=socket.gaierror("away"))
                later = time.monotonic() + 3_600
                with mock.patch("socket.getaddrinfo", away), mock.patch("time.monotonic", lambda: later):
                    self.assertEqual(client.decide("jo@good.example").source, "service")

    def test_a_fault_is_told_and_never_raised(self):
        told = []

        def tell(fault, during):
            told.append((fault.kind, during))
            raise RuntimeError("a log that fails")

        with Client("http://127.0.0.1:9", on_fault=tell) as client:
            answer = client.decide("jo@good.example", form=object())
            self.assertEqual((answer.source, answer.fault.kind), ("away", "request"))
            with self.assertRaises(ValueError):
                client.verify_token("a.b.c", "jo@good.example")
            with self.assertRaises(GatepostError):
                client.check("good.example")
        self.assertEqual(told, [("request", "decide")])

    def test_options_that_cannot_work_are_refused(self):
        for url in ("gatepost.example", "ftp://gatepost.example", "http://", "http://a@gatepost.example", "http://x?y"):
            with self.assertRaises(ValueError, msg=url):
                Client(url)
        for options in ({"away": "block"}, {"deadline_ms": 0}, {"key": "a\r\nb"}, {"key": "é"}, {"key": ""}, {"token_secret": ""}):
            with self.assertRaises(ValueError, msg=str(options)):
                Client("http://gatepost.example", **options)


if __name__ == "__main__":
    unittest.main()
