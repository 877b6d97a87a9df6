/**
 * Requests that try to reach a shop's checkout past a gate, to be led to another site, or to get a cookie. The shop
 * itself notes what has reached it.
 */
import { type RawAnswer, valuesOf } from "../../support/gates/RawRequests.ts"

export interface Attack {
  readonly name: string
  readonly text: string
  /** What is wrong with the answer, besides what no answer may have. */
  readonly wrong?: (answer: RawAnswer) => string | undefined
}

/** What attackers hold. */
export interface Loot {
  /** The name of the gate's cookie. */
  readonly cookie: string
  /** The same of another host of the domain, which cannot set one with a prefix. */
  readonly plainCookie: string
  /** A grant that opens the gate. Attackers change it. */
  readonly grant: string
  /** Of another experience of the same organization. */
  readonly otherGrant: string
  /** Of another organization. */
  readonly foreignGrant: string
}

interface Parts {
  readonly line?: string
  readonly host?: string | null
  readonly lines?: ReadonlyArray<string>
  readonly body?: string
  readonly wrong?: Attack["wrong"]
}

const attack = (name: string, { line = "GET /checkout HTTP/1.1", host = "shop.example", ...rest }: Parts): Attack => {
  const { lines = [], body = "", wrong } = rest
  const head = [line, ...(host === null ? [] : [`Host: ${host}`]), "Accept: text/html", ...lines]
  return { name, text: `${head.join("\r\n")}\r\n\r\n${body}`, ...(wrong && { wrong }) }
}

const get = (path: string) => attack(`the path ${JSON.stringify(path)}`, { line: `GET ${path} HTTP/1.1` })

/** A way back to a host that is not the gate's. */
const leadsAway = (answer: RawAnswer): string | undefined => {
  const [location] = valuesOf(answer, "location")
  const back = location === undefined ? null : new URL(location).searchParams.get("return")
  return back === null || new URL(back).hostname === "shop.example" ? undefined : `leads back to ${back}`
}

const orderAs = (name: string, ...lines: ReadonlyArray<string>) =>
  attack(`an order with ${name}`, { line: "POST /order HTTP/1.1", lines: ["Content-Length: 0", ...lines] })

/** Headers that say of a request what it is not. */
const spoofed = (): ReadonlyArray<Attack> => [
  ...[
    "X-Original-URI",
    "X-Original-URL",
    "X-Rewrite-URL",
    "X-Forwarded-Uri",
    "X-Forwarded-Path",
    "X_Forwarded_Uri"
  ].map((name) => attack(`${name}: /`, { lines: [`${name}: /`] })),
  attack("X-Original-URI twice", { lines: ["X-Original-URI: /", "X-Original-URI: /"] }),
  attack("X-Forwarded-Uri twice", { lines: ["X-Forwarded-Uri: /", "x-forwarded-uri: /"] }),
  attack("a folded X-Forwarded-Uri", { lines: ["X-Forwarded-Uri:", " /"] }),
  attack("X-Forwarded-Uri with a blank before its colon", { lines: ["X-Forwarded-Uri : /"] }),
  attack("the naming headers named in Connection", {
    lines: ["Connection: X-Original-URI, X-Original-Method, X-Forwarded-Uri, X-Forwarded-Method, X-Forwarded-Host"]
  }),
  attack("Cookie named in Connection", { lines: ["Connection: close, Cookie", "Cookie: a=1"] }),
  attack("X-Usher-Status", { lines: ["X-Usher-Status: 200"] }),
  attack("an inner address", { lines: ["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"] }),
  attack("Forwarded", { lines: ["Forwarded: for=127.0.0.1;host=evil.example;proto=http"], wrong: leadsAway }),
  attack("X-Forwarded-Host", { lines: ["X-Forwarded-Host: evil.example"], wrong: leadsAway }),
  attack("X-Forwarded-Host twice", {
    lines: ["X-Forwarded-Host: evil.example", "X-Forwarded-Host: shop.example"],
    wrong: leadsAway
  }),
  attack("X-Forwarded-Proto", { lines: ["X-Forwarded-Proto: javascript"], wrong: leadsAway }),
  attack("a wrong value of the header that lets pass", { lines: ["X-Partner: wrong"] }),
  orderAs("X-Original-Method", "X-Original-Method: GET"),
  orderAs("X-Forwarded-Method", "X-Forwarded-Method: GET"),
  orderAs("X-HTTP-Method-Override", "X-HTTP-Method-Override: GET"),
  attack("an order in lower case", { line: "post /order HTTP/1.1", lines: ["Content-Length: 0"] })
]

const hosts = (): ReadonlyArray<Attack> => [
  ...[
    "SHOP.EXAMPLE",
    "shop.example.",
    "shop.example:81",
    "evil.example",
    "user@shop.example",
    "shop.example/x",
    ""
  ].map((host) => attack(`the host ${JSON.stringify(host)}`, { host, wrong: leadsAway })),
  attack("two hosts", { lines: ["Host: evil.example"], wrong: leadsAway }),
  attack("no host", { host: null }),
  attack("HTTP/1.0", { line: "GET /checkout HTTP/1.0" }),
  attack("HTTP/1.0 without a host", { line: "GET /checkout HTTP/1.0", host: null }),
  attack("HTTP/0.9", { line: "GET /checkout", host: null }),
  attack("an absolute address", { line: "GET http://shop.example/checkout HTTP/1.1" }),
  attack("an absolute address of another host", {
    line: "GET http://evil.example/checkout HTTP/1.1",
    wrong: leadsAway
  }),
  attack("an absolute address in upper case", { line: "GET HTTP://SHOP.EXAMPLE/checkout HTTP/1.1" }),
  attack("CONNECT", { line: "CONNECT shop.example:443 HTTP/1.1" }),
  attack("OPTIONS *", { line: "OPTIONS * HTTP/1.1" }),
  attack("a tab in the first line", { line: "GET\t/checkout\tHTTP/1.1" }),
  attack("line feeds alone", { line: "GET /checkout HTTP/1.1\nX: 1" }),
  attack("an upgrade to h2c", {
    lines: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"]
  }),
  attack("an upgrade to WebSocket", {
    lines: [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    ]
  })
]

const paths = (): ReadonlyArray<Attack> =>
  [
    "/%63heckout",
    "/%2563heckout",
    "//checkout",
    "/./checkout",
    "/x/../checkout",
    "/x/%2e%2e/checkout",
    "/x/..%2fcheckout",
    "/x/..%5ccheckout",
    "/\\checkout",
    "/CheckOut",
    "/checkout;a=1",
    "/;a=1/checkout",
    "/x;/../checkout",
    "/checkout%00",
    "/checkout/health/../pay",
    "/checkout/health%2f..%2fpay",
    "/checkout/health/..;/pay",
    "/checkout/health/%2e%2e/pay",
    "/checkout#/",
    "/checkout?to=/checkout/health",
    "/.usher/return/../../checkout",
    "/.usher/return%2f..%2f..%2fcheckout",
    "/.usher/check/../../checkout"
  ].map(get)

const cookies = (loot: Loot): ReadonlyArray<Attack> => {
  const { cookie, plainCookie, grant, otherGrant, foreignGrant } = loot
  const [head = "", payload = "", signature = ""] = grant.split(".")
  const none = Buffer.from('{"alg":"none"}').toString("base64url")
  const with_ = (name: string, value: string) => attack(name, { lines: [`Cookie: ${value}`] })
  return [
    with_("a grant of another experience", `${cookie}=${otherGrant}`),
    with_("a grant of another organization", `${cookie}=${foreignGrant}`),
    with_("a grant in a cookie that another host can set", `${plainCookie}=${grant}`),
    with_("a grant that says that it is not signed", `${cookie}=${none}.${payload}.`),
    with_("a grant of another payload", `${cookie}=${head}.${otherGrant.split(".")[1]}.${signature}`),
    with_("a grant with another signature", `${cookie}=${head}.${payload}.${"A".repeat(signature.length)}`),
    with_("a cookie of 100 KB", `${cookie}=${"A".repeat(100_000)}`),
    with_("cookies of 30 KB", Array.from({ length: 30 }, (_, n) => `c${n}=${"A".repeat(1_000)}`).join("; ")),
    with_("ten wrong grants", Array.from({ length: 10 }, () => `${cookie}=${otherGrant}`).join("; ")),
    attack("90 lines of cookies", { lines: Array.from({ length: 90 }, (_, n) => `Cookie: c${n}=1`) })
  ]
}

/** A second request, hidden in what one of two parsers takes for the body of the first. */
const hidden = "GET /checkout HTTP/1.1\r\nHost: shop.example\r\n\r\n"

const smuggled = (): ReadonlyArray<Attack> => {
  const chunked = `0\r\n\r\n${hidden}`
  const asChunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  const post = (name: string, lines: ReadonlyArray<string>, body: string, line = "POST / HTTP/1.1") =>
    attack(name, { line, lines, body })
  const length = `Content-Length: ${chunked.length}`
  return [
    post("CL.TE", [length, "Transfer-Encoding: chunked"], chunked),
    post("TE.CL", ["Content-Length: 4", "Transfer-Encoding: chunked"], asChunk),
    ...["xchunked", "chunked, identity", "identity, chunked", "\u000bchunked", "chunked\u0000", '"chunked"'].map(
      (coding) =>
        post(`Transfer-Encoding: ${JSON.stringify(coding)}`, [length, `Transfer-Encoding: ${coding}`], chunked)
    ),
    post("Transfer-Encoding twice", [length, "Transfer-Encoding: chunked", "Transfer-Encoding: x"], chunked),
    post("Transfer-Encoding with a blank before its colon", [length, "Transfer-Encoding : chunked"], chunked),
    post("a folded Transfer-Encoding", [length, "Transfer-Encoding:", " chunked"], chunked),
    post("Transfer_Encoding", [length, "Transfer_Encoding: chunked"], chunked),
    post("two lengths", [`Content-Length: ${chunked.length}`, "Content-Length: 5"], chunked),
    post("a length with a sign", ["Content-Length: +5"], chunked),
    post("a list of lengths", ["Content-Length: 5, 5"], chunked),
    post("a length in hexadecimals", ["Content-Length: 0x5"], chunked),
    post("HTTP/1.0 with chunks", ["Transfer-Encoding: chunked"], chunked, "POST / HTTP/1.0"),
    post("a chunk with a line feed alone", ["Transfer-Encoding: chunked"], `0;x\n\n${hidden}`),
    post("a chunk that is too long", ["Transfer-Encoding: chunked"], `5\r\nAAAAAAAA\r\n0\r\n\r\n${hidden}`),
    post("a chunk of a negative length", ["Transfer-Encoding: chunked"], `-1\r\n${hidden}`),
    post("a body after GET", [`Content-Length: ${hidden.length}`], hidden, "GET / HTTP/1.1"),
    post("a body after GET that has no length", [], hidden, "GET / HTTP/1.1"),
    post("a trailer", ["Transfer-Encoding: chunked"], `0\r\nX-Original-URI: /\r\n\r\n${hidden}`),
    post("Expect", ["Expect: 100-continue", length], chunked, "POST /checkout HTTP/1.1")
  ]
}

/** The return path leads to a page of this site, and gives no cookie for anything but a grant of this gate. */
const returning = ({ grant, otherGrant, foreignGrant }: Loot): ReadonlyArray<Attack> => {
  const leadsOut = (answer: RawAnswer) => {
    const locations = valuesOf(answer, "location")
    return locations.every((one) => /^\/(?![/\\])/.test(one)) ? undefined : `leads to ${locations.join(" and ")}`
  }
  const back = (to: string, lines: ReadonlyArray<string> = []) =>
    attack(`the return path to ${to}`, { line: `GET /.usher/return?to=${to} HTTP/1.1`, lines, wrong: leadsOut })
  // As from a browser that was sent to the room.
  const form = (name: string, body: string, state = "A".repeat(32)) =>
    attack(name, {
      line: `POST /.usher/return?to=%2Fcheckout&state=${"A".repeat(32)} HTTP/1.1`,
      lines: [
        "Content-Type: application/x-www-form-urlencoded",
        `Content-Length: ${body.length}`,
        `Cookie: __Host-usher-state=${state}`
      ],
      body,
      wrong: leadsOut
    })
  return [
    ...[
      "https://evil.example",
      "//evil.example",
      "%2F%2Fevil.example",
      "/%5Cevil.example",
      "/%09/evil.example",
      "/%0D%0ALocation:%20https://evil.example",
      "javascript:alert(1)",
      "/@evil.example/%2e%2e//evil.example"
    ].map((to) => back(to)),
    back("%2Fcheckout", ["X-Forwarded-Host: evil.example"]),
    form("a return without a grant", "usher_grant=A.B.C"),
    form("a return with a grant of another experience", `usher_grant=${otherGrant}`),
    form("a return with a grant of another organization", `usher_grant=${foreignGrant}`),
    form("a return of another browser", `usher_grant=${grant}`, "B".repeat(32)),
    form("a return with a form of 1 MB", `usher_grant=${"A".repeat(1_000_000)}`)
  ]
}

export const attacksWith = (loot: Loot): ReadonlyArray<Attack> => [
  ...spoofed(),
  ...hosts(),
  ...paths(),
  ...cookies(loot),
  ...smuggled(),
  ...returning(loot)
]
