import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { markdownTable, settings, Settings } from "../../src/settings/Settings.ts"

const read = (env: Record<string, string>) =>
  Effect.gen(function* () {
    return yield* Settings
  }).pipe(
    Effect.provide(Settings.layer),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )

const refusal = (env: Record<string, string>) =>
  read(env).pipe(
    Effect.flip,
    Effect.map((error) => error.message)
  )

describe("Settings", () => {
  it.effect("an empty environment gives the defaults", () =>
    Effect.gen(function* () {
      const found = yield* read({})
      assert.strictEqual(found.consumerPort, 4000)
      assert.strictEqual(found.adminPort, 4001)
      assert.strictEqual(found.host, "127.0.0.1")
      assert.strictEqual(found.dataDir, ".usher")
      assert.strictEqual(found.accessTokenLifetimeSeconds, 3_600)
      assert.strictEqual(found.refreshTokenLifetimeSeconds, 2_592_000)
      assert.strictEqual(found.logLevel, "Info")
      assert.isTrue(Option.isNone(found.databaseUrl))
      assert.isTrue(Option.isNone(found.redisUrl))
    })
  )

  it.effect("a variable replaces its default, and surrounding blanks are ignored", () =>
    Effect.gen(function* () {
      const found = yield* read({
        CONSUMER_PORT: "8080",
        ADMIN_PORT: " 8081 ",
        HOST: "0.0.0.0",
        DATABASE_URL: "postgres://u:p%40ss@db:5433/d?sslmode=require",
        LOG_LEVEL: "DEBUG",
        NODE_NAME: "eins"
      })
      assert.deepStrictEqual(
        [found.consumerPort, found.adminPort, found.host, found.logLevel, found.nodeName],
        [8080, 8081, "0.0.0.0", "Debug", "eins"]
      )
      assert.strictEqual(
        Redacted.value(Option.getOrThrow(found.databaseUrl)),
        "postgres://u:p%40ss@db:5433/d?sslmode=require"
      )
      assert.notInclude(String(found.databaseUrl), "p%40ss")
    })
  )

  it.effect("PUBLIC_URL is the base of links, without a slash at its end", () =>
    Effect.gen(function* () {
      const base = (value: string) => Effect.map(read({ PUBLIC_URL: value }), ({ publicUrl }) => publicUrl)
      assert.isUndefined((yield* read({})).publicUrl)
      assert.strictEqual(yield* base("https://Drops.example.com/"), "https://drops.example.com")
      assert.strictEqual(yield* base("https://example.com:8443/drops//"), "https://example.com:8443/drops")
      assert.strictEqual(yield* base("http://127.0.0.1:4000"), "http://127.0.0.1:4000")
      assert.strictEqual(yield* base("http://[::1]:4000/"), "http://[::1]:4000")
      for (const wrong of [
        "http://drops.example.com",
        "http://127.0.0.1.example.com",
        "https://user:pass@example.com",
        "https://example.com/?a=1",
        "https://example.com/#top",
        "https://example.com\\@evil.example",
        "javascript:alert(1)",
        "example.com"
      ]) {
        assert.match(yield* refusal({ PUBLIC_URL: wrong }), /^PUBLIC_URL must be an https: URL/)
      }
    })
  )

  it.effect("OPERATIONS_HOST beyond loopback needs OPERATIONS_TOKEN", () =>
    Effect.gen(function* () {
      const open = { OPERATIONS_PORT: "9464", OPERATIONS_HOST: "0.0.0.0" }
      assert.match(yield* refusal(open), /OPERATIONS_HOST is 0\.0\.0\.0, .* needs OPERATIONS_TOKEN/)
      assert.strictEqual((yield* read({ ...open, OPERATIONS_TOKEN: "secret" })).operationsPort, 9464)
      assert.strictEqual((yield* read({ OPERATIONS_PORT: "0", OPERATIONS_HOST: "::1" })).operationsPort, 0)
      assert.isUndefined((yield* read({ OPERATIONS_HOST: "0.0.0.0" })).operationsPort)
    })
  )

  it.effect("ADMIN_HOST is HOST unless it is set", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ HOST: "0.0.0.0" })).adminHost, "0.0.0.0")
      const both = yield* read({ HOST: "0.0.0.0", ADMIN_HOST: "10.0.0.5" })
      assert.deepStrictEqual([both.host, both.adminHost], ["0.0.0.0", "10.0.0.5"])
    })
  )

  it.effect("the APIs may share a port on two addresses", () =>
    Effect.gen(function* () {
      const found = yield* read({ CONSUMER_PORT: "443", ADMIN_PORT: "443", ADMIN_HOST: "10.0.0.5" })
      assert.deepStrictEqual([found.consumerPort, found.adminPort], [443, 443])
    })
  )

  it.effect("an empty variable counts as absent", () =>
    Effect.gen(function* () {
      const found = yield* read({ CONSUMER_PORT: "", DATABASE_URL: "  ", LOG_LEVEL: "" })
      assert.deepStrictEqual([found.consumerPort, found.logLevel], [4000, "Info"])
      assert.isTrue(Option.isNone(found.databaseUrl))
    })
  )

  const wrong: ReadonlyArray<readonly [variable: string, value: string, shape: string]> = [
    ["CONSUMER_PORT", "abc", "a whole number from 0 to 65535"],
    ["CONSUMER_PORT", "65536", "a whole number from 0 to 65535"],
    ["ADMIN_PORT", "-1", "a whole number from 0 to 65535"],
    ["ADMIN_PORT", "40.5", "a whole number from 0 to 65535"],
    ["ADMIN_PORT", "0x10", "a whole number from 0 to 65535"],
    ["ADMIN_PORT", "4e3", "a whole number from 0 to 65535"],
    ["HOST", "not a host", "an IP address or host name"],
    ["ADMIN_HOST", "not a host", "an IP address or host name"],
    ["DATA_DIR", "a\u0000b", "a path"],
    ["DATABASE_CONNECTIONS", "1", "a whole number from 2 to 100"],
    ["LOG_LEVEL", "verbose", "one of all, trace, debug, info, warn, error, fatal, none"],
    ["LOG_LEVEL", "constructor", "one of all, trace, debug, info, warn, error, fatal, none"],
    ["LOG_FORMAT", "xml", "one of pretty, logfmt, json"],
    ["ACCESS_TOKEN_LIFETIME_SECONDS", "0", "a whole number from 1 to"],
    ["REFRESH_TOKEN_LIFETIME_SECONDS", "1h", "a whole number from 1 to"],
    ["SHUTDOWN_TIMEOUT_SECONDS", "0", "a whole number from 1 to 600"],
    ["NODE_NAME", "x".repeat(101), "1 to 100 printable characters"],
    ["EMAIL_FROM", "Sneaker House", "an email address, or a name and one in <>"],
    ["EMAIL_FROM", "a@example.com\r\nBcc: b@example.com", "an email address, or a name and one in <>"],
    ["SMS_ACCOUNT", "AC:1", "1 to 200 printable characters without a colon"],
    ["SMS_FROM", "<script>", "a phone number or a sender name"],
    ["TRUSTED_PROXIES", "10.0.0.1/8", "IP addresses or networks like"],
    ["TRUSTED_PROXIES", "10.0.0.0/8,proxy", "IP addresses or networks like"],
    ["TRUSTED_PROXIES", "10.0.0.0/8,", "IP addresses or networks like"],
    ["LIMIT_PER_ADDRESS", "0", "a number from 0.001 to 1"],
    ["LIMIT_PER_CONSUMER", "1.5", "a number from 0.001 to 1"]
  ]
  for (const [variable, value, shape] of wrong) {
    it.effect(
      `${variable}=${JSON.stringify(value).slice(0, 40)} is refused with its name, its shape, what was found and the fix`,
      () =>
        Effect.gen(function* () {
          const message = yield* refusal({ [variable]: value })
          assert.isTrue(message.startsWith(`${variable} must be ${shape}`), message)
          assert.include(message, JSON.stringify(value))
          assert.include(message, "unset it for the default")
        })
    )
  }

  for (const [variable, value] of [
    ["DATABASE_URL", "mysql://u:geheim@host/d"],
    ["DATABASE_URL", "u:geheim@host"],
    ["DATABASE_URL", "postgres:geheim"],
    ["DATABASE_URL", "postgres://u:geheim@host:port/d"],
    ["REDIS_URL", "http://:geheim@host"],
    ["SMTP_URL", "https://u:geheim@host"],
    ["SMS_PROVIDER_URL", "u:geheim@host"],
    ["WEBHOOK_PROXY_URL", "socks5://u:geheim@host:1080"],
    ["WEBHOOK_PROXY_URL", "u:geheim@host:3128"],
    ["WEBHOOK_PROXY_URL", "http://u:geheim%zz@host:3128"],
    ["WEBHOOK_PROXY_URL", "http://u:geheim%0d%0a@host:3128"]
  ] as const) {
    it.effect(`${variable}=${value} is refused without being shown`, () =>
      Effect.gen(function* () {
        const message = yield* refusal({ [variable]: value })
        assert.isTrue(message.startsWith(`${variable} must be a URL like`), message)
        assert.notInclude(message, "geheim")
      })
    )
  }

  it.effect("proxies are addresses and networks of IPv4 and IPv6", () =>
    Effect.gen(function* () {
      const { trustedProxies } = yield* read({ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7,2001:db8::/32,::1" })
      assert.deepStrictEqual(trustedProxies.map(IpNetwork.format), [
        "10.0.0.0/8",
        "192.0.2.7/32",
        "2001:db8::/32",
        "::1/128"
      ])
    })
  )

  it.effect("relays of the beacon are a list of URLs, and none may contain a password", () =>
    Effect.gen(function* () {
      const { drandUrls } = yield* read({ DRAND_URLS: "https://relay.example/,http://127.0.0.1:8080/drand/" })
      assert.deepStrictEqual(drandUrls, ["https://relay.example", "http://127.0.0.1:8080/drand"])
      assert.strictEqual((yield* read({})).drandUrls.length, 4)
      for (const value of [
        "https://u:geheim@relay.example",
        "relay.example",
        "https://a.example,",
        "https://a.example/?b"
      ]) {
        const message = yield* refusal({ DRAND_URLS: value })
        assert.isTrue(message.startsWith("DRAND_URLS must be https: or http: URLs without user and password"), message)
        assert.notInclude(message, "geheim")
      }
    })
  )

  it.effect("a certificate needs its key", () =>
    Effect.gen(function* () {
      assert.match(yield* refusal({ TLS_CERT_FILE: "a.pem" }), /^TLS_CERT_FILE and TLS_KEY_FILE go together/)
      const { tlsCertFile, tlsKeyFile } = yield* read({ TLS_CERT_FILE: "a.pem", TLS_KEY_FILE: "b.pem" })
      assert.deepStrictEqual([tlsCertFile, tlsKeyFile], ["a.pem", "b.pem"])
    })
  )

  it.effect("a provider is refused unless all its settings are present", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal({ SMTP_URL: "smtp://mail.example" }), "SMTP_URL is set, and needs EMAIL_FROM")
      const message = yield* refusal({ SMS_PROVIDER_URL: "https://sms.example", SMS_FROM: "+12025550100" })
      assert.deepStrictEqual(
        message.split("\n").map((line) => /needs (\w+)/.exec(line)?.[1]),
        ["SMS_ACCOUNT", "SMS_TOKEN"]
      )
      const found = yield* read({ SMTP_URL: "smtp://mail.example", EMAIL_FROM: "Sneaker House <no-reply@example.com>" })
      assert.isTrue(Option.isSome(found.smtpUrl))
    })
  )

  it.effect("all wrong settings are reported together", () =>
    Effect.gen(function* () {
      const message = yield* refusal({ CONSUMER_PORT: "x", LOG_LEVEL: "y" })
      assert.strictEqual(message.split("\n").length, 2)
    })
  )

  it.effect("the two APIs cannot share a port, but each may take any free one", () =>
    Effect.gen(function* () {
      assert.include(yield* refusal({ CONSUMER_PORT: "5000", ADMIN_PORT: "5000" }), "both 5000")
      const found = yield* read({ CONSUMER_PORT: "0", ADMIN_PORT: "0" })
      assert.deepStrictEqual([found.consumerPort, found.adminPort], [0, 0])
    })
  )

  it("the documentation's table has a row for each setting of operators", () => {
    const rows = markdownTable().split("\n").slice(2)
    const shown = settings.filter(({ variable }) => !["DIRECT_PATH", "SUPERVISED"].includes(variable))
    assert.strictEqual(rows.length, shown.length)
    for (const [index, setting] of shown.entries()) assert.include(rows[index], `| \`${setting.variable}\` |`)
  })

  it.effect("test settings are the defaults with the given overrides, and ignore the environment", () =>
    Effect.gen(function* () {
      const found = yield* Settings
      assert.deepStrictEqual([found.consumerPort, found.adminPort], [4000, 7])
    }).pipe(
      Effect.provide(Settings.layerTest({ adminPort: 7 })),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { CONSUMER_PORT: "9" } }))
    )
  )
})
