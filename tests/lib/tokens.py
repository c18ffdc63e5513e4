"""Member JWTs, good ones and hostile ones."""

import base64
import hashlib
import hmac
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature


def encode(raw):
    if isinstance(raw, str):
        raw = raw.encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(value, length=None):
    return encode(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def payload_of(token):
    """The claims, unchecked."""
    return json.loads(decode(token.split(".")[1]))


def header_of(token):
    return json.loads(decode(token.split(".")[0]))


class Hs256:
    algorithm = "HS256"

    def __init__(self, secret):
        self.secret = secret.encode() if isinstance(secret, str) else secret

    def sign(self, message):
        return hmac.digest(self.secret, message, hashlib.sha256)


class Rs256:
    algorithm = "RS256"

    def __init__(self, kid="rsa"):
        self.key, self.kid = rsa.generate_private_key(65537, 2048), kid

    def sign(self, message):
        return self.key.sign(message, padding.PKCS1v15(), hashes.SHA256())

    def jwk(self):
        public = self.key.public_key().public_numbers()
        return {"kty": "RSA", "kid": self.kid, "use": "sig", "alg": "RS256", "n": number(public.n),
                "e": number(public.e)}

    def public_pem(self):
        return self.key.public_key().public_bytes(serialization.Encoding.PEM,
                                                  serialization.PublicFormat.SubjectPublicKeyInfo)


class Es256:
    algorithm = "ES256"

    def __init__(self, kid="ec"):
        self.key, self.kid = ec.generate_private_key(ec.SECP256R1()), kid

    def sign(self, message):
        r, s = decode_dss_signature(self.key.sign(message, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def jwk(self):
        public = self.key.public_key().public_numbers()
        return {"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "alg": "ES256",
                "x": number(public.x, 32), "y": number(public.y, 32)}


class EdDsa:
    algorithm = "EdDSA"

    def __init__(self, kid="ed"):
        self.key, self.kid = ed25519.Ed25519PrivateKey.generate(), kid

    def sign(self, message):
        return self.key.sign(message)

    def jwk(self):
        raw = self.key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return {"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "use": "sig", "alg": "EdDSA", "x": encode(raw)}


def make(key, member, header=None, **claims):
    """A JWT of `member`; a claim given as None is left out."""
    head = {"alg": key.algorithm, "typ": "JWT"}
    if getattr(key, "kid", None):
        head["kid"] = key.kid
    head.update(header or {})
    body = {"sub": member, "exp": int(time.time()) + 86400}
    body.update(claims)
    body = {name: value for name, value in body.items() if value is not None}
    message = f"{encode(json.dumps(head))}.{encode(json.dumps(body))}"
    return f"{message}.{encode(key.sign(message.encode()))}"


def hostile(key, member="mallory"):
    """Named tokens that must all be refused by a server that pins HS256 with `key`."""
    good = make(key, member)
    head, body, signature = good.split(".")
    now = int(time.time())
    other = Hs256("another secret of at least thirty-two characters")
    none = f"{encode(json.dumps({'alg': 'none', 'typ': 'JWT'}))}.{body}."
    tokens = {
        "alg none": none,
        "alg None": f"{encode(json.dumps({'alg': 'None'}))}.{body}.",
        "alg none with the signature": f"{encode(json.dumps({'alg': 'none'}))}.{body}.{signature}",
        "alg HS512": make(key, member, header={"alg": "HS512"}),
        "alg missing": make(key, member, header={"alg": None}),
        "alg a number": make(key, member, header={"alg": 256}),
        "another secret": make(other, member),
        "empty secret": make(Hs256(b""), member),
        "no signature": f"{head}.{body}.",
        "two parts": f"{head}.{body}",
        "four parts": f"{good}.{signature}",
        "empty": "",
        "dots": "..",
        "payload changed": f"{head}.{encode(json.dumps({'sub': 'admin', 'exp': now + 9999}))}.{signature}",
        "signature cut": good[:-4],
        "signature padded": good + "=",
        "signature with a bit changed": good[:-6] + ("A" if good[-6] != "A" else "B") + good[-5:],
        "standard base64": good[:-3] + "+/" + good[-1],
        "expired": make(key, member, exp=now - 3600),
        "no exp": make(key, member, exp=None),
        "exp a text": make(key, member, exp=str(now + 3600)),
        "exp huge": make(key, member, exp=1e300),
        "exp negative": make(key, member, exp=-1),
        "not yet valid": make(key, member, nbf=now + 3600),
        "no sub": make(key, member, sub=None),
        "sub empty": make(key, ""),
        "sub too long": make(key, "a" * 65),
        "sub with a slash": make(key, "a/b"),
        "sub with a brace": make(key, "a}b{"),
        "sub with NUL": make(key, "a\0b"),
        "sub with CRLF": make(key, "a\r\nX-Evil: 1"),
        "sub a visitor's": make(key, "v~" + "A" * 22),
        "sub a number": make(key, 7),
        "sub a list": make(key, ["m"]),
        "header no JSON": f"{encode('nonsense')}.{body}.{signature}",
        "payload no JSON": _signed(key, head, encode("nonsense")),
        "payload a list": _signed(key, head, encode("[1]")),
        "payload deep": _signed(key, head, encode("[" * 5000)),
        "payload not UTF-8": _signed(key, head, encode(b'{"sub":"\xff\xfe","exp":9999999999}')),
        "crit": make(key, member, header={"crit": ["b64"], "b64": False}),
        "huge": make(key, member, padding="x" * 9000),
    }
    return tokens


def _signed(key, head, body):
    message = f"{head}.{body}"
    return f"{message}.{encode(key.sign(message.encode()))}"
