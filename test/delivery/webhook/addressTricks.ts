/**
 * URLs with which a webhook could try to reach this machine or a private network. `PORT` stands for the port of a
 * server there. A name resolves to an inward address.
 */

/** Spellings of inward addresses, by trick. */
const spellings: { readonly [trick: string]: string } = {
  dotted:
    "127.0.0.1 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1 192.0.0.8 192.0.2.1 " +
    "198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 192.88.99.1",
  "fewer parts": "127.1 127.0.1 10.1 192.168.1 0",
  decimal: "2130706433 3232235521 2852039166 167772161",
  octal: "0177.0.0.1 017700000001 0300.0250.0.1 0177.0.0.01 127.000.000.001",
  hexadecimal: "0x7f.1 0x7f000001 0xa9fea9fe 0xC0.0xA8.0.1 0x7f.0x0.0x0.0x1",
  "mixed bases": "0x7f.0.0.01 0xa9.254.0251.254",
  "trailing dot": "127.0.0.1. 10.0.0.1. 2130706433. 0x7f.1.",
  "other characters": "①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1 %31%32%37.0.0.1",
  "IPv6 of this machine": "[::1] [::] [0:0:0:0:0:0:0:1]",
  "IPv6 that is not routed":
    "[fe80::1] [fc00::1] [fd12:3456::1] [ff02::1] [2001:db8::1] [100::1] [3fff::1] [5f00::1] [fec0::1]",
  "IPv4 mapped in IPv6": "[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:a00:1] [::ffff:169.254.169.254]",
  "IPv4 compatible or translated": "[::127.0.0.1] [::ffff:0:127.0.0.1]",
  NAT64: "[64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::7f00:1]",
  "6to4 and Teredo": "[2002:7f00:1::] [2001::7f00:1]",
  names: "localhost localhost. LOCALHOST shop.example shop.example. 127.0.0.1.shop.example"
}

/** Whole URLs, by trick. */
const urls: { readonly [trick: string]: ReadonlyArray<string> } = {
  "user information": [
    "https://user@shop.example:PORT/",
    "https://user:password@shop.example:PORT/",
    "https://:password@shop.example:PORT/",
    "https://shop.example@127.0.0.1:PORT/",
    "https://127.0.0.1:PORT@shop.example/",
    "https://shop.example%40127.0.0.1:PORT/"
  ],
  ports: [0, 1, 22, 25, 80, 111, 445, 1_023].map((port) => `https://shop.example:${port}/`),
  schemes: [
    "http://shop.example:PORT/",
    "ftp://shop.example:PORT/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:PORT/",
    "ws://127.0.0.1:PORT/",
    "data:text/plain,x",
    "//127.0.0.1:PORT/",
    "127.0.0.1:PORT"
  ],
  "characters that parsers read differently": [
    "https:\\\\127.0.0.1:PORT\\",
    "https://127.0.0.1\\@shop.example:PORT/",
    "https://shop.example:PORT\\@127.0.0.1/",
    "https://127.0.0.1\t:PORT/",
    "https://127.0.\n0.1:PORT/",
    " https://127.0.0.1:PORT/",
    "https:127.0.0.1:PORT/",
    "https:///127.0.0.1:PORT/",
    "https://127.0.0.1:PORT#@shop.example/",
    "https://127.0.0.1:PORT?@shop.example/"
  ]
}

/** A URL, and the trick in it. */
export type Trick = readonly [trick: string, url: string]

/** All tricks for a server on this port. */
export const tricks = (port: number): ReadonlyArray<Trick> =>
  [
    ...Object.entries(spellings).flatMap(([trick, hosts]) =>
      hosts.split(" ").map((host): Trick => [trick, `https://${host}:PORT/`])
    ),
    ...Object.entries(urls).flatMap(([trick, all]) => all.map((url): Trick => [trick, url]))
  ].map(([trick, url]) => [trick, url.replaceAll("PORT", `${port}`)])

/** Answers of a name server that contain an inward address. */
export const inwardAnswers: ReadonlyArray<ReadonlyArray<string>> = [
  ["127.0.0.1"],
  ["8.8.8.8", "127.0.0.1"],
  ["127.0.0.1", "8.8.8.8"],
  ["2606:4700:4700::1111", "::1"],
  ["::ffff:127.0.0.1"],
  ["::ffff:7f00:1"],
  ["64:ff9b::7f00:1"],
  ["2002:7f00:1::"],
  ["::1"],
  ["::"],
  ["0.0.0.0"],
  ["169.254.169.254"],
  ["10.0.0.1"],
  ["fe80::1%lo"],
  []
]
