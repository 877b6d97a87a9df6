/** What is protected: paths, hosts, rules and kinds of requests. What is expected is written here, not computed by a gate. */
import {
  type Case,
  browser,
  cookieName,
  inside,
  newState,
  pass,
  plain,
  stateCookie,
  toRoom,
  valid,
  vectors,
  visit,
  wait
} from "./vectorParts.ts"

const protectedPaths: ReadonlyArray<readonly [target: string, page: string]> = [
  ["/checkout", "%2Fcheckout"],
  ["/checkout/", "%2Fcheckout%2F"],
  ["/checkout/pay?a=1&b=2", "%2Fcheckout%2Fpay%3Fa%3D1%26b%3D2"],
  ["/checkout?x=%2F", "%2Fcheckout%3Fx%3D%252F"],
  ["/checkout?it's(1)*!", "%2Fcheckout%3Fit%27s%281%29%2A%21"],
  ["/%63heckout", "%2F%2563heckout"],
  ["/%2563heckout", "%2F%252563heckout"],
  ["/CHECKOUT", "%2FCHECKOUT"],
  ["//checkout", "%2F"],
  ["/./checkout", "%2F.%2Fcheckout"],
  ["/a/../checkout", "%2Fa%2F..%2Fcheckout"],
  ["/../checkout", "%2F..%2Fcheckout"],
  ["/%2e%2e/checkout", "%2F%252e%252e%2Fcheckout"],
  ["/a/%2E%2E/checkout", "%2Fa%2F%252E%252E%2Fcheckout"],
  ["/a%2f..%2fcheckout", "%2Fa%252f..%252fcheckout"],
  ["/a\\..\\checkout", "%2F"],
  ["/a%5c..%5ccheckout", "%2Fa%255c..%255ccheckout"],
  ["/;a=1/checkout", "%2F%3Ba%3D1%2Fcheckout"],
  ["/checkout;a=1", "%2Fcheckout%3Ba%3D1"],
  ["/checkout/../assets/a.css", "%2Fcheckout%2F..%2Fassets%2Fa.css"],
  ["/checkout/..%2fassets/a.css", "%2Fcheckout%2F..%252fassets%2Fa.css"],
  ["/assets/../checkout", "%2Fassets%2F..%2Fcheckout"],
  ["/assets/%2e%2e/checkout", "%2Fassets%2F%252e%252e%2Fcheckout"],
  ["/assets/..%2fcheckout", "%2Fassets%2F..%252fcheckout"],
  ["/gr%C3%B6%c3%9fe", "%2Fgr%25C3%25B6%25c3%259fe"],
  ["/a%20b/c", "%2Fa%2520b%2Fc"],
  ["/checkout%", "%2Fcheckout%25"],
  ["/checkout%00", "%2Fcheckout%2500"],
  ["http://shop.example.com/checkout", "%2F"],
  ["HTTPS://other.example/checkout?a", "%2F"]
]

const paths = [
  ...vectors(
    "a path",
    protectedPaths.map(([target, page]): Case => [`${target} is protected`, visit(target), toRoom(page)])
  ),
  ...vectors(
    "a path",
    [
      "/",
      "/chec",
      "/shop/checkout",
      "/health",
      "/assets/a.css",
      "/assets/100%25.css",
      "/?p=/checkout",
      "/%",
      "/cart",
      "/.usher/returns",
      "/gr%F6%DFe",
      "/GR%C3%96%C3%9FE",
      "/a+b"
    ].map((target): Case => [`${target} passes`, visit(target), pass])
  ),
  ...vectors("a path", [
    [
      "of another case does not fit a rule that lets pass",
      visit("/CHECKOUT/health", {}),
      toRoom("%2FCHECKOUT%2Fhealth")
    ],
    ["passes where the gate has no rules", visit("/checkout"), pass, { gate: "empty" }],
    [
      "longer than 2,000 characters leads back to the front page",
      visit(`/checkout?${"a".repeat(2_000)}`),
      toRoom("%2F")
    ],
    [
      "of 2,000 characters is kept",
      visit(`/checkout?${"a".repeat(1_990)}`),
      toRoom(`%2Fcheckout%3F${"a".repeat(1_990)}`)
    ],
    [
      "is added to a room's own query",
      visit("/checkout"),
      {
        kind: "room",
        location:
          "https://usher.example.com/e/drop?lang=de&return=https%3A%2F%2Fshop.example.com%2F.usher%2Freturn%3Fto%3D%252Fcheckout%26state%3Dstate-of-a-new-browser",
        cookie: stateCookie(newState)
      },
      { gate: "roomWithQuery" }
    ]
  ])
]

const hosts: ReadonlyArray<readonly [host: string, origin: string]> = [
  ["SHOP.Example.COM", "https%3A%2F%2Fshop.example.com"],
  ["www.shop.example.com", "https%3A%2F%2Fwww.shop.example.com"],
  ["shop.example.com:8443", "https%3A%2F%2Fshop.example.com%3A8443"],
  ["shop.example.com.", "https%3A%2F%2Fshop.example.com"],
  ["www.shop.example.com.:443", "https%3A%2F%2Fwww.shop.example.com%3A443"],
  ...[
    "evil.example",
    "evil.example:443",
    "shop.example.com.evil.example",
    "evil-shop.example.com",
    "shop.example.com..",
    "shop.example.com@evil.example",
    "shop.example.com:80@evil.example",
    "shop.example.com/evil",
    "shop.example.com:port",
    "shop.example.com:123456",
    "shop.example.com evil.example",
    "shop.example.com,evil.example",
    "[::1]",
    ""
  ].map((host) => [host, "https%3A%2F%2Fshop.example.com"] as const)
]

const hostCases = vectors(
  "a host",
  hosts.map(([host, origin]): Case => [
    `"${host}" leads back to ${decodeURIComponent(origin)}`,
    visit("/checkout", { host }),
    toRoom("%2Fcheckout", origin)
  ])
)

const rules = vectors("a rule", [
  ["for a method protects it", visit("/cart", {}, "POST"), toRoom("%2Fcart")],
  ["for a method leaves others", visit("/cart", {}, "PUT"), pass],
  ["for a path fits with a slash at the end", visit("/cart/", {}, "POST"), toRoom("%2Fcart%2F")],
  ["for a path does not fit below it", visit("/cart/1", {}, "POST"), pass],
  ["for a method knows only upper case", visit("/cart", {}, "post"), pass],
  ["for a header lets its value pass", visit("/checkout", { "x-machine": "let-me" }), pass],
  ["for a header does not let another value pass", visit("/checkout", { "x-machine": "let-me-not" }), toRoom()],
  ["for a header does not let a value of another case pass", visit("/checkout", { "x-machine": "LET-ME" }), toRoom()],
  ["for a header without a value asks only for its presence", visit("/checkout", { "x-preview": "" }), pass],
  ["for a cookie lets it pass", visit("/checkout", { cookie: "staff=1" }), pass],
  ["for a cookie does not fit another name", visit("/checkout", { cookie: "staffs=1" }), toRoom()],
  ["for a cookie does not fit a cookie without a value sign", visit("/checkout", { cookie: "staff" }), toRoom()],
  ["for a crawler lets a verified one pass", { ...visit(), crawler: "googlebot" }, pass],
  ["for a crawler does not let another one pass", { ...visit(), crawler: "bingbot" }, toRoom()],
  ["for a crawler does not believe a user agent", visit("/checkout", { "user-agent": "Googlebot/2.1" }), toRoom()],
  ["that stands first decides", visit("/health", { cookie: "a=b" }), pass]
])

const kinds = vectors("a request", [
  ["that accepts no HTML is told to wait", plain({ accept: "application/json" }), wait],
  ["that accepts anything is told to wait", plain({ accept: "*/*" }), wait],
  ["without Accept is told to wait", plain({}), wait],
  ["that accepts HTML in upper case is sent to the room", plain({ accept: "TEXT/HTML" }), toRoom()],
  ["of XMLHttpRequest is told to wait", plain({ ...browser, "x-requested-with": "XMLHttpRequest" }), wait],
  ["of fetch is told to wait", plain({ ...browser, "sec-fetch-mode": "cors" }), wait],
  ["of fetch to the same site is told to wait", plain({ ...browser, "sec-fetch-mode": "same-origin" }), wait],
  ["that navigates is sent to the room", plain({ ...browser, "sec-fetch-mode": "navigate" }), toRoom()],
  ["that posts a form is sent to the room", plain(browser, "POST"), toRoom()],
  ["for the head is sent to the room", plain(browser, "HEAD"), toRoom()],
  ["of a program with a grant passes", plain({ cookie: `${cookieName}=${valid}` }), inside()]
])

export const requestCases = [...paths, ...hostCases, ...rules, ...kinds]
