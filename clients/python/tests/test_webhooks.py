import hashlib
import hmac
import unittest

from gatepost import verify_webhook

BODY = '{"event":"test.ping","data":"é"}'.encode()
SIGNATURE = hmac.new(b"key", BODY, hashlib.sha256).hexdigest()


class Webhooks(unittest.TestCase):
    def test_every_form_of_a_raw_body(self):
        for body in (BODY, bytearray(BODY), memoryview(BODY), BODY.decode()):
            self.assertTrue(verify_webhook(body, SIGNATURE, "key"), type(body))
        self.assertFalse(verify_webhook(BODY + b" ", SIGNATURE, "key"))

    def test_what_is_missing_signs_nothing(self):
        for body, signature, secret in (
            (None, SIGNATURE, "key"),
            (BODY, None, "key"),
            (BODY, [SIGNATURE], "key"),
            (BODY, SIGNATURE, None),
            (BODY, SIGNATURE, ""),
        ):
            self.assertIs(verify_webhook(body, signature, secret), False)

    def test_a_parsed_body_is_refused_in_words(self):
        for body in ({"event": "test.ping"}, [1], 5):
            with self.assertRaisesRegex(TypeError, "raw body"):
                verify_webhook(body, SIGNATURE, "key")
