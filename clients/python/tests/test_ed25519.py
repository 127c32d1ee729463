import unittest

from gatepost import ed25519

# RFC 8032 section 7.1: key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
        "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da0"
        "85ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac1"
        "8ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b5890"
        "9351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]

ORDER = 2**252 + 27742317777372353535851937790883648493

# Points of order 1, 2, 4 and 8, and other spellings of two of them.
SMALL = [
    "01" + "00" * 31,
    "ec" + "ff" * 30 + "7f",
    "00" * 32,
    "00" * 31 + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "ed" + "ff" * 30 + "7f",
    "ee" + "ff" * 30 + "7f",
]


class Ed25519Test(unittest.TestCase):
    def setUp(self):
        self.key, self.message, self.signature = map(bytes.fromhex, VECTORS[2])

    def test_signatures_of_the_rfc_verify(self):
        for vector in VECTORS:
            self.assertTrue(ed25519.verify(*map(bytes.fromhex, vector)))

    def test_one_changed_bit_anywhere_is_refused(self):
        for at in range(64 * 8):
            changed = bytearray(self.signature)
            changed[at // 8] ^= 1 << at % 8
            self.assertFalse(ed25519.verify(self.key, self.message, bytes(changed)), at)
        for at in range(32 * 8):
            changed = bytearray(self.key)
            changed[at // 8] ^= 1 << at % 8
            self.assertFalse(ed25519.verify(bytes(changed), self.message, self.signature), at)
        self.assertFalse(ed25519.verify(self.key, self.message + b"\0", self.signature))

    def test_another_spelling_of_s_is_refused(self):
        s = int.from_bytes(self.signature[32:], "little")
        for times in range(1, 15):
            other = (s + times * ORDER).to_bytes(32, "little")
            self.assertFalse(ed25519.verify(self.key, self.message, self.signature[:32] + other))
        self.assertFalse(ed25519.verify(self.key, self.message, self.signature[:32] + b"\xff" * 32))

    def test_small_keys_that_sign_everything_are_refused(self):
        for key in map(bytes.fromhex, SMALL):
            for r in map(bytes.fromhex, SMALL):
                self.assertFalse(ed25519.verify(key, b"any", r + bytes(32)))

    def test_an_encoding_off_the_curve_is_refused(self):
        for y in (2, 7, 2**255 - 21):
            key = y.to_bytes(32, "little")
            self.assertFalse(ed25519.verify(key, self.message, self.signature))

    def test_wrong_lengths_are_refused(self):
        self.assertFalse(ed25519.verify(self.key[:31], self.message, self.signature))
        self.assertFalse(ed25519.verify(self.key, self.message, self.signature[:63]))
        self.assertFalse(ed25519.verify(self.key, self.message, self.signature + b"\0"))
        self.assertFalse(ed25519.verify(b"", b"", b""))


if __name__ == "__main__":
    unittest.main()
