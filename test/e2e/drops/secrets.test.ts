/**
 * Searches for every secret that the server returned: in the database, in the log at every level, in error responses
 * and in the API descriptions. None may contain one.
 */
import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { spawnSync } from "node:child_process"
import { randomBytes, randomInt } from "node:crypto"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as Usher from "../../cli/usherProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

/** A database whose URL contains a password. The server does not check it. */
const database = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const secret = new URL(url)
  // A server with trust authentication accepts any password.
  if (secret.password === "") secret.password = randomBytes(12).toString("hex")
  const { password } = secret
  const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
  return { url, secretUrl: secret.href, password, sql }
})

/** Returns a client that collects the error responses, which must not contain secrets. */
const makeCaller = ({ consumerUrl, adminUrl }: { readonly consumerUrl: string; readonly adminUrl: string }) => {
  const errors: Array<string> = []
  const call = (
    api: "consumer" | "admin",
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: unknown
  ) =>
    Effect.promise(async () => {
      const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
      const response = await fetch(`${api === "consumer" ? consumerUrl : adminUrl}${path}`, {
        method,
        headers: { ...(payload !== undefined && { "content-type": "application/json" }), ...headers },
        ...(payload !== undefined && { body: payload })
      })
      const text = await response.text()
      if (response.status >= 400) errors.push(`${response.status} ${JSON.stringify([...response.headers])} ${text}`)
      const isJson = response.headers.get("content-type")?.includes("json") === true && text !== ""
      return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined }
    })
  return { call, errors }
}

/** Returns the random parts of a secret in every encoding in which it might be stored. */
const forms = (secret: string): ReadonlyArray<string> => {
  const parts = secret.includes(".")
    ? [secret.split(".").at(-1)!]
    : [secret.replace(/^[ps]k_(live|test)_/, "").slice(4, -4)]
  return [secret, ...parts].flatMap((text) => {
    const bytes = Buffer.from(text)
    return [text, bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")]
  })
}

const idOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).jti as string

/** Returns whether a text contains a short code with no digits next to it. Six digits often occur in longer numbers. */
const hasCode = (text: string, code: string) => new RegExp(`(?<![0-9a-f.])${code}(?![0-9a-f])`).test(text)

const found = (text: string, secrets: ReadonlySet<string>): ReadonlyArray<string> =>
  [...secrets].filter((secret) =>
    /^\d{6}$/.test(secret) ? hasCode(text, secret) : forms(secret).some((form) => text.includes(form))
  )

/** Returns every row of every table, bytes as hexadecimal digits, and the output of `pg_dump` if it is installed. */
const dump = (sql: PgClient.PgClient, url: string) =>
  Effect.gen(function* () {
    const tables = yield* sql<{ readonly schema: string; readonly name: string }>`
      select table_schema as schema, table_name as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
    const rows = yield* Effect.forEach(
      tables,
      ({ schema, name }) => sql<{ readonly text: string }>`select t::text as text from ${sql(schema)}.${sql(name)} t`
    )
    const dumped = spawnSync("pg_dump", ["--inserts", url], { encoding: "utf8", maxBuffer: 1 << 28 })
    const text = rows.flat().map((row) => row.text)
    assert.isAbove(text.length, 30)
    return [...text, dumped.status === 0 ? dumped.stdout : ""].join("\n")
  })

describe("Secrets", () => {
  it("are found in every encoding", () => {
    const secret = "sk_live_" + randomBytes(24).toString("base64url")
    const token = `a.b.${randomBytes(64).toString("base64url")}`
    const code = String(randomInt(100_000, 1_000_000))
    const hidden = [
      `key=${secret}`,
      `\\x${Buffer.from(secret).toString("hex")}`,
      Buffer.from(secret).toString("base64"),
      `…${secret.slice(12, -4)}…`
    ]
    for (const text of hidden) assert.deepStrictEqual(found(text, new Set([secret])), [secret])
    assert.deepStrictEqual(found(token.split(".")[2]!, new Set([token])), [token])
    assert.deepStrictEqual(found(`Your code is ${code}.`, new Set([code])), [code])
    assert.deepStrictEqual(
      found(`12:00:00.${code} ${secret.slice(0, 12)}…${secret.slice(-4)}`, new Set([code, secret])),
      []
    )
  })

  it.live("are not in the database, the log, the error responses or the descriptions", () =>
    Effect.gen(function* () {
      const { url, secretUrl, password, sql } = yield* database
      const mailPassword = randomBytes(12).toString("hex")
      const settings = { DATABASE_URL: secretUrl, LOG_LEVEL: "all", LOG_FORMAT: "json" }
      const made = yield* organization(settings)
      const server = yield* serving({
        ...settings,
        SMTP_URL: `smtp://usher:${mailPassword}@127.0.0.1:1`,
        EMAIL_FROM: "usher@example.com"
      })
      const { call, errors } = makeCaller(server)
      const secrets = new Set<string>([password, mailPassword])
      const kept = (...texts: ReadonlyArray<string>) => texts.forEach((text) => secrets.add(text))
      const { publishableKey, secretKey, testPublishableKey, testSecretKey } = made
      kept(publishableKey, secretKey, testPublishableKey, testSecretKey)

      const publicly = { "x-publishable-key": publishableKey }
      const asServer = { authorization: `Bearer ${secretKey}` }
      const bearing = (token: string) => ({ ...publicly, authorization: `Bearer ${token}` })
      const post = (path: string, headers: Record<string, string>, body?: unknown) =>
        call("consumer", "POST", `/api${path}`, headers, body)
      const admin = (path: string, body: unknown) => call("admin", "POST", `/api${path}`, asServer, body)
      const keepSession = (session: { readonly accessToken: string; readonly refreshToken: string }) => {
        kept(session.accessToken, session.refreshToken, idOf(session.refreshToken))
        return session
      }

      // Sessions of every kind.
      const guest = keepSession((yield* post("/auth/guest", publicly)).body)
      const refreshed = keepSession((yield* post("/auth/refresh", publicly, { refreshToken: guest.refreshToken })).body)
      const phone = { phone: "+4915112345678" }
      const codeOf = Effect.gen(function* () {
        yield* post("/auth/otp/request", publicly, phone)
        const { body } = yield* call("admin", "GET", "/api/outbox", asServer)
        const code = /\b\d{6}\b/.exec(body.data[0].text)![0]
        kept(code)
        return code
      })
      yield* codeOf
      const code = yield* codeOf
      const wrong = code === "123456" ? "654321" : "123456"
      yield* post("/auth/otp/verify", publicly, { ...phone, code: wrong })
      const verified = yield* post("/auth/otp/verify", bearing(refreshed.accessToken), { ...phone, code })
      assert.strictEqual(verified.status, 200, verified.text)
      keepSession(verified.body)
      yield* post("/auth/otp/verify", publicly, { ...phone, code })
      yield* post("/auth/otp/request", publicly, { email: "ann@example.com" })
      const identity = { provider: "shop", issuer: "https://shop.example", subject: "ann" }
      const { exchangeCode } = (yield* post("/auth/external/authorize", asServer, identity)).body
      kept(exchangeCode)
      const exchanged = keepSession((yield* post("/auth/external/exchange", publicly, { exchangeCode })).body)
      yield* post("/auth/external/exchange", publicly, { exchangeCode })

      // A grant, and rotated keys.
      const experience = (yield* admin("/experiences", { name: "Drop" })).body.id
      const sequence = (yield* admin("/sequences", { experienceId: experience, name: "Sale" })).body.id
      const queue = (yield* admin("/queues", { sequenceId: sequence, name: "Line", admitRate: 0 })).body.id
      const { consumerId } = (yield* post("/auth/guest", publicly)).body.session
      yield* post(`/queues/${queue}/enter`, { ...asServer, "x-consumer-id": consumerId })
      const granted = yield* post(`/queues/${queue}/admit`, asServer, { consumerId })
      kept(granted.body.admissionGrant)
      yield* post(`/queues/${queue}/validate`, asServer, { consumerId, token: granted.body.admissionGrant })
      const rotatedTest = yield* call("admin", "POST", "/api/api-keys/secret/rotate", {
        authorization: `Bearer ${testSecretKey}`
      })
      kept(rotatedTest.body.key)
      const rotated = yield* Usher.run(
        ["keys", "rotate", "--organization", made.organizationId, "--kind", "publishable", "--mode", "test", "--json"],
        settings
      )
      kept(JSON.parse(rotated.stdout).key)

      // Failing requests that contain secrets.
      yield* post("/auth/refresh", publicly, { refreshToken: guest.refreshToken })
      yield* post("/auth/refresh", publicly, { refreshToken: { token: exchanged.refreshToken } })
      yield* post("/auth/refresh", publicly, `{"refreshToken": "${exchanged.refreshToken}"`)
      yield* post("/auth/otp/verify", publicly, { ...phone, code: `${code}9` })
      yield* post("/auth/otp/verify", publicly, { phone: 7, code })
      yield* post("/auth/external/exchange", publicly, { exchangeCode: [exchangeCode] })
      yield* post(`/queues/${queue}/validate`, asServer, { token: granted.body.admissionGrant })
      yield* call("admin", "GET", `/api/experiences?search=${secretKey}&first=x`, asServer)
      yield* call("admin", "GET", `/api/nowhere?key=${secretKey}`, asServer)
      yield* call("admin", "GET", "/api/experiences", { authorization: `Bearer ${testSecretKey}` })
      yield* call("consumer", "GET", `/api/queues/${queue}`, {
        "x-publishable-key": `${publishableKey}${"x".repeat(10_000)}`
      })
      yield* post(`/queues/${queue}/enter`, bearing(`${exchanged.accessToken}${"x".repeat(20_000)}`))
      yield* post("/auth/logout", bearing(exchanged.accessToken))
      yield* post(`/queues/${queue}/enter`, bearing(exchanged.accessToken))

      // A damaged database, so that statements with secrets fail.
      for (const table of ["api_keys", "sessions", "one_time_codes", "exchange_codes", "consumers"]) {
        yield* sql`alter table ${sql(table)} rename to elsewhere`
        yield* call("admin", "POST", "/api/api-keys/secret/rotate", asServer)
        yield* call("admin", "GET", "/api/experiences", { authorization: `Bearer ${rotatedTest.body.key}` })
        yield* post("/auth/guest", publicly)
        yield* post("/auth/refresh", publicly, { refreshToken: verified.body.refreshToken })
        yield* post("/auth/otp/request", publicly, phone)
        yield* post("/auth/otp/verify", publicly, { ...phone, code })
        yield* post("/auth/external/exchange", publicly, { exchangeCode })
        yield* post("/auth/logout", bearing(refreshed.accessToken))
        yield* sql`alter table elsewhere rename to ${sql(table)}`
      }
      yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and application_name like 'usher %'`
      yield* call("admin", "GET", "/api/experiences", asServer)
      // The server notices that its connections are lost, and subscribes again.
      yield* Usher.until(() => server.stderr().includes("No invalidations are received"))

      const descriptions = yield* Effect.forEach(
        [
          ["consumer", "/openapi.json"],
          ["admin", "/openapi.json"],
          ["consumer", "/docs"],
          ["admin", "/docs"],
          ["consumer", "/ready"],
          ["consumer", "/.well-known/jwks.json"]
        ] as const,
        ([api, path]) => call(api, "GET", path)
      )
      const statements = yield* dump(sql, url)
      server.child.kill("SIGTERM")
      const { stdout, stderr } = yield* Usher.end(server)

      assert.isAbove(secrets.size, 20)
      assert.isAbove(errors.length, 20)
      assert.include(stderr, '"level":"DEBUG"', "everything is logged")
      assert.include(stderr, "A request failed", "failures are logged with their causes")
      assert.deepStrictEqual(found(statements, secrets), [], "in the database")
      assert.deepStrictEqual(found(stdout + stderr + rotated.stderr, secrets), [], "in the log")
      assert.deepStrictEqual(found(errors.join("\n"), secrets), [], "in error responses")
      assert.deepStrictEqual(found(descriptions.map(({ text }) => text).join("\n"), secrets), [], "in descriptions")
    })
  )
})
