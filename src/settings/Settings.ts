/**
 * All settings, each declared once. The README.md of this folder is generated from `settings`. A wrong value stops the
 * start with a message that names the variable, the expected value, the found value and the fix. Values of secret
 * settings are never shown.
 */
import { Config, Context, Effect, Layer, Option, Runtime, Schema } from "effect"
import { hostname } from "node:os"
import { clusterDefinitions, withoutCluster, withoutDatabase } from "./Cluster.ts"
import { edgeDefinitions } from "./Edge.ts"
import { openWithoutToken, operationsDefinitions } from "./Operations.ts"
import {
  choice,
  flag,
  complaint,
  type Definition,
  file,
  networks,
  port,
  relays,
  secret,
  type Setting,
  text,
  url,
  whole
} from "./Shapes.ts"
import { webhookDefinitions } from "./Webhooks.ts"
import { definitions as secretsKey } from "./SecretsKey.ts"

/** An error that prevents the start, with the problem and its fix. The process ends with code 1. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  message: Schema.String,
  /** True if the next start may succeed. */
  isTransient: Schema.optionalKey(Schema.Boolean)
}) {
  // The command line has printed the message. A log entry with a stack would only hide it.
  override readonly [Runtime.errorReported] = false
}

const definitions = {
  consumerPort: port("CONSUMER_PORT", 4000, "Where the Consumer API listens. 0 takes any free port."),
  adminPort: port("ADMIN_PORT", 4001, "Where the Admin API listens. 0 takes any free port."),
  host: text("HOST", {
    unit: "address",
    shape: "an IP address or host name",
    pattern: /^[\w.:-]+$/,
    fallback: "127.0.0.1",
    meaning: "The address the APIs listen on. `0.0.0.0` is every address of the machine."
  }),
  adminHost: text("ADMIN_HOST", {
    unit: "address",
    shape: "an IP address or host name",
    pattern: /^[\w.:-]+$/,
    fallback: "",
    default: "`HOST`",
    meaning: "The address the Admin API listens on, if it differs, such as one of an internal network."
  }),
  databaseUrl: url("DATABASE_URL", {
    schemes: ["postgres:", "postgresql:"],
    example: "postgres://user:password@host:5432/database",
    whenAbsent: "the embedded Postgres in `DATA_DIR`",
    meaning: "An external Postgres server, version 15 or newer."
  }),
  dataDir: text("DATA_DIR", {
    unit: "folder",
    shape: "a path",
    pattern: /^\P{Cc}+$/u,
    fallback: ".usher",
    meaning: "Where the embedded Postgres keeps its files. Unused with `DATABASE_URL`."
  }),
  databaseConnections: whole("DATABASE_CONNECTIONS", {
    unit: "connections",
    fallback: 8,
    least: 2,
    most: 100,
    meaning: "How many database connections this process opens at most."
  }),
  redisUrl: url("REDIS_URL", {
    schemes: ["redis:", "rediss:"],
    example: "redis://:password@host:6379",
    whenAbsent: "each process counts alone",
    meaning: "A Redis server in which several processes share one count for rate limits. It holds no durable data."
  }),
  ...secretsKey,
  tlsCertFile: file("TLS_CERT_FILE", {
    whenAbsent: "plain HTTP, accepted only from loopback and `TRUSTED_PROXIES`",
    meaning: "The certificate chain, in PEM, with which both APIs serve HTTPS themselves. Needs `TLS_KEY_FILE`."
  }),
  tlsKeyFile: file("TLS_KEY_FILE", {
    whenAbsent: "plain HTTP",
    meaning: "The certificate's private key, in PEM, without a passphrase."
  }),
  trustedProxies: networks("TRUSTED_PROXIES", {
    whenAbsent: "forwarded headers are ignored, and warned of if they come from this machine",
    meaning:
      "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. Their own requests without these headers, " +
      "such as health checks, are also accepted over plain HTTP."
  }),
  ...operationsDefinitions,
  ...edgeDefinitions,
  ...webhookDefinitions,
  directPath: {
    ...flag(
      "DIRECT_PATH",
      true,
      "Whether common requests of the Consumer API take the direct path, to compare the two."
    ),
    isInternal: true
  },
  logLevel: choice("LOG_LEVEL", {
    fallback: "info",
    choices: {
      all: "All",
      trace: "Trace",
      debug: "Debug",
      info: "Info",
      warn: "Warn",
      error: "Error",
      fatal: "Fatal",
      none: "None"
    },
    meaning: "The lowest level that is logged. Logs go to standard error."
  } as const),
  logFormat: choice("LOG_FORMAT", {
    fallback: "pretty",
    choices: { pretty: "pretty", logfmt: "logfmt", json: "json" },
    meaning: "The format of a log line: for people, or for a log collector."
  } as const),
  accessTokenLifetimeSeconds: whole("ACCESS_TOKEN_LIFETIME_SECONDS", {
    unit: "seconds",
    fallback: 3_600,
    least: 1,
    most: 31_536_000,
    meaning: "How long a consumer's access token is valid, unless its organization sets this itself."
  }),
  refreshTokenLifetimeSeconds: whole("REFRESH_TOKEN_LIFETIME_SECONDS", {
    unit: "seconds",
    fallback: 2_592_000,
    least: 1,
    most: 315_360_000,
    meaning: "How long a consumer's refresh token is valid, unless its organization sets this itself."
  }),
  smtpUrl: url("SMTP_URL", {
    schemes: ["smtp:", "smtps:"],
    example: "smtp://user:password@host:587",
    whenAbsent: "email is kept in memory, at `/api/outbox` of the Admin API, which only this machine can read",
    meaning: "The mail server that sends email. Needs `EMAIL_FROM`."
  }),
  emailFrom: text("EMAIL_FROM", {
    unit: "address",
    shape: "an email address, or a name and one in `<>`",
    pattern: /^[^\p{Cc}<>@]*(?:<[^\p{Cc}<>@\s]+@[^\p{Cc}<>@\s]+>|[^\p{Cc}<>@\s]@[^\p{Cc}<>@\s]+)$/u,
    fallback: "",
    default: "none",
    meaning: "The sender of email, such as `Sneaker House <no-reply@example.com>`."
  }),
  smsProviderUrl: url("SMS_PROVIDER_URL", {
    schemes: ["https:", "http:"],
    example: "https://api.twilio.com",
    whenAbsent: "SMS are kept in memory, at `/api/outbox` of the Admin API, which only this machine can read",
    meaning:
      "A provider with Twilio's interface: SMS are posted to `/2010-04-01/Accounts/<SMS_ACCOUNT>/Messages.json` under it. " +
      "Needs `SMS_ACCOUNT`, `SMS_TOKEN` and `SMS_FROM`."
  }),
  smsAccount: text("SMS_ACCOUNT", {
    unit: "name",
    shape: "1 to 200 printable characters without a colon",
    pattern: /^[^\p{Cc}:]{1,200}$/u,
    fallback: "",
    default: "none",
    meaning: "The account at the SMS provider."
  }),
  smsToken: secret("SMS_TOKEN", { meaning: "The SMS provider's token for the account." }),
  smsFrom: text("SMS_FROM", {
    unit: "phone number",
    shape: "a phone number or a sender name",
    pattern: /^[+\w :.-]{1,64}$/,
    fallback: "",
    default: "none",
    meaning: "The sender of SMS, as the provider assigned it."
  }),
  grantMessagesPerSecond: whole("GRANT_MESSAGES_PER_SECOND", {
    unit: "messages per second",
    fallback: 50,
    least: 1,
    most: 10_000,
    meaning:
      "Limit of messages about grants, for all organizations and processes together. Organizations turn these messages on."
  }),
  drandUrls: relays("DRAND_URLS", {
    fallback: [
      "https://api.drand.sh",
      "https://api2.drand.sh",
      "https://api3.drand.sh",
      "https://drand.cloudflare.com"
    ],
    meaning:
      "Relays that serve rounds of the public randomness beacon. Rounds are verified, so relays need not be trusted."
  }),
  nodeName: text("NODE_NAME", {
    unit: "name",
    shape: "1 to 100 printable characters",
    pattern: /^\P{Cc}{1,100}$/u,
    fallback: hostname(),
    default: "the host's name",
    meaning: "The name of this process in live views and logs."
  }),
  ...clusterDefinitions,
  shutdownTimeoutSeconds: whole("SHUTDOWN_TIMEOUT_SECONDS", {
    unit: "seconds",
    fallback: 15,
    least: 1,
    most: 600,
    meaning: "How long a graceful shutdown may take before the process ends at once, with code 1."
  }),
  shutdownDelayMillis: whole("SHUTDOWN_DELAY_MILLISECONDS", {
    unit: "milliseconds",
    fallback: 500,
    least: 0,
    most: 60_000,
    meaning:
      "How long a graceful shutdown keeps accepting requests after `/ready` returns 503, for load balancers to notice, and " +
      "then answers 503 to requests on open connections."
  })
}

type Definitions = typeof definitions
type Values = { readonly [Name in keyof Definitions]: Definitions[Name]["fallback"] }

/** Returns the environment of this process with other values, for another process of the program. */
export const environmentWith = (values: Record<string, string>): Record<string, string | undefined> => ({
  // oxlint-disable-next-line eslint/no-restricted-properties -- no setting is read from it
  ...process.env,
  ...values
})

/** All settings, in the order of the documentation. */
export const settings: ReadonlyArray<Setting> = Object.values(definitions)

/** Returns the settings of operators as a Markdown table. */
export const markdownTable = (): string =>
  [
    "| Variable | Unit | Default | Values | Meaning |",
    "|---|---|---|---|---|",
    ...settings
      .filter(({ isInternal }) => isInternal !== true)
      .map(
        (setting) =>
          `| \`${setting.variable}\` | ${setting.unit} | ${setting.default} | ${setting.shape} | ${setting.meaning} |`
      )
  ].join("\n")

/** Where consumers reach this installation: at `PUBLIC_URL`, else on this host. */
export const publicBaseOf = ({
  publicUrl,
  consumerPort,
  tlsCertFile
}: Pick<Values, "publicUrl" | "consumerPort" | "tlsCertFile">): string =>
  publicUrl ?? `${tlsCertFile === undefined ? "http" : "https"}://localhost:${consumerPort}`

/** The settings of this process. */
export class Settings extends Context.Service<Settings, Values>()("usher/settings/Settings") {
  /** Reads the environment. An absent or empty variable means the default. Reports all wrong values at once. */
  static readonly layer = Layer.effect(
    Settings,
    Effect.suspend(() => readAll)
  )

  /** The defaults with the given overrides. Ignores the environment. */
  static readonly layerTest = (overrides: Partial<Values> = {}) =>
    Layer.succeed(Settings, completed({ ...defaults, shutdownDelayMillis: 0, ...overrides }))
}

/** Fills in the values that derive from other settings. */
const completed = (values: Values): Values => ({ ...values, adminHost: values.adminHost || values.host })

const entries = Object.entries(definitions) as ReadonlyArray<[keyof Definitions, Definition<unknown>]>

const defaults = Object.fromEntries(
  entries.map(([name, definition]) => [name, definition.fallback])
) as unknown as Values

const readAll = Effect.gen(function* () {
  const complaints: Array<string> = []
  const given: Record<string, unknown> = {}
  for (const [name, definition] of entries) {
    const found = yield* Config.String(definition.variable).pipe(
      Config.option,
      Effect.orElseSucceed(Option.none<string>)
    )
    if (Option.isNone(found) || found.value.trim() === "") {
      given[name] = definition.fallback
      continue
    }
    const value = definition.parse(found.value.trim())
    if (value === undefined) complaints.push(complaint(definition, found.value))
    given[name] = value
  }
  const values = completed(given as unknown as Values)
  const { consumerPort, adminPort, host, adminHost, tlsCertFile, tlsKeyFile } = values
  const sharesPort = consumerPort === adminPort && host === adminHost && consumerPort !== 0
  if (sharesPort && complaints.length === 0) {
    complaints.push(
      `CONSUMER_PORT and ADMIN_PORT are both ${consumerPort}. The two APIs need a port each: change one of them.`
    )
  }
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    complaints.push("TLS_CERT_FILE and TLS_KEY_FILE go together: set both for HTTPS, or neither.")
  }
  if (complaints.length === 0) complaints.push(...incomplete(values))
  if (complaints.length > 0) return yield* new StartRefused({ message: complaints.join("\n") })
  return values
})

const incomplete = (values: Values): ReadonlyArray<string> => {
  const needs = (provider: keyof Definitions, others: ReadonlyArray<keyof Definitions>) =>
    Option.isNone(values[provider] as Option.Option<unknown>)
      ? []
      : others
          .filter((other) => values[other] === definitions[other].fallback)
          .map((other) => {
            const { variable } = definitions[provider]
            return `${variable} is set, and needs ${definitions[other].variable}. Set it, or unset ${variable}.`
          })
  const hasTwoKeys = values.secretsKeys.length > 0 && values.secretsKeyFile !== undefined
  return [
    ...(hasTwoKeys ? ["SECRETS_KEY and SECRETS_KEY_FILE are both set: set one of them."] : []),
    ...withoutDatabase(values),
    ...withoutCluster(values),
    ...openWithoutToken(values),
    ...needs("smtpUrl", ["emailFrom"]),
    ...needs("smsProviderUrl", ["smsAccount", "smsToken", "smsFrom"])
  ]
}
