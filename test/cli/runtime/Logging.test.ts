import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { hostname } from "node:os"
import * as Logging from "../../../src/cli/runtime/Logging.ts"
import { annotated } from "../../../src/measures/StateChange.ts"
import { Settings } from "../../../src/settings/Settings.ts"

/** Hostile text from a caller: a forged log entry, and sequences that control a terminal. */
const hostile = "x\r\n[12:00:00.000] ERROR (#1): forged\u001b[2J\u0000\u007f\u0085\u009b\u2028\u2029\u202e\u2066y"

const failure = () => {
  const cause = new Error(`invalid input syntax: "${hostile}"`)
  return new Error(`Failed to execute statement ${hostile}`, { cause })
}

/** Logs the hostile text in every place that accepts text. */
const everything = Effect.logError(`A request failed ${hostile}`, hostile, { sent: hostile }, failure()).pipe(
  Effect.andThen(Effect.tapCause(Effect.die(failure()), (cause) => Effect.logError("A request failed", cause))),
  Effect.annotateLogs({ request: `GET /${hostile}`, [hostile]: { nested: hostile } }),
  Effect.exit
)

const logged = Effect.fnUntraced(function* (logFormat: "pretty" | "logfmt" | "json", effect: Effect.Effect<unknown>) {
  const layer = Logging.layer.pipe(Layer.provide(Settings.layerTest({ logFormat })))
  yield* Effect.provide(effect, layer)
  return yield* TestConsole.errorLines
})

const textOf = (entries: ReadonlyArray<unknown>) => entries.join("\n")

describe("The log", () => {
  for (const format of ["pretty", "logfmt", "json"] as const) {
    it.effect(`as ${format} escapes text that could start an entry or control a terminal, in every place`, () =>
      Effect.gen(function* () {
        const entries = yield* logged(format, everything)
        assert.lengthOf(entries, 2)
        const lines = textOf(entries).split("\n")
        assert.isAbove(textOf(entries).split("forged").length, 6)
        for (const line of lines) assert.notMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
        const beginning = format === "pretty" ? /^\[\d\d:/ : format === "json" ? /^\{/ : /^timestamp=/
        assert.lengthOf(
          lines.filter((line) => beginning.test(line)),
          2
        )
        assert.lengthOf(
          lines.filter((line) => line.startsWith("[12:00:00.000]")),
          0
        )
        if (format !== "pretty") assert.lengthOf(lines, 2)
      }).pipe(Effect.provide(TestConsole.layer))
    )
  }

  it.effect("as json preserves the text", () =>
    Effect.gen(function* () {
      const [first] = yield* logged("json", Effect.annotateLogs(Effect.logInfo(hostile), { sent: hostile }))
      const entry = JSON.parse(`${first}`)
      assert.strictEqual(entry.message, hostile)
      assert.strictEqual(entry.annotations.sent, hostile)
    }).pipe(Effect.provide(TestConsole.layer))
  )

  it.effect("as json has the event and its place at the top of a line", () =>
    Effect.gen(function* () {
      const log = annotated("mechanism.parked", { restarts: 5 })(Effect.logError("mechanism parked"))
      const [first] = yield* logged("json", log)
      const { event, service, version, node, annotations } = JSON.parse(`${first}`)
      assert.deepStrictEqual([event, service, version, node], ["mechanism.parked", "usher", "1.0.0", hostname()])
      assert.deepStrictEqual(annotations, { restarts: 5 })
    }).pipe(Effect.provide(TestConsole.layer))
  )

  it.effect("as pretty shows an error with its stack, its cause and annotations under the message", () =>
    Effect.gen(function* () {
      const failed = new Error("statement failed", { cause: new TypeError("no connection") })
      const [entry] = yield* logged(
        "pretty",
        Effect.tapCause(Effect.die(failed), (cause) => Effect.logError("A request failed", cause)).pipe(
          Effect.annotateLogs({ requestId: "r-1" }),
          Effect.exit
        )
      )
      const [head, ...lines] = `${entry}`.split("\n")
      assert.match(head!, /^\[\d\d:\d\d:\d\d\.\d{3}\] ERROR \(#\d+\): A request failed$/)
      assert.strictEqual(lines[0], "  Error: statement failed")
      assert.match(lines[1]!, /^ {6}at .*Logging\.test\.ts/)
      assert.isTrue(lines.some((line) => line === "    [cause]: TypeError: no connection"))
      assert.strictEqual(lines.at(-1), "  requestId: r-1")
    }).pipe(Effect.provide(TestConsole.layer))
  )

  it.effect("contains nothing below the configured level, and is not written to standard output", () =>
    Effect.gen(function* () {
      const layer = Logging.layer.pipe(Layer.provide(Settings.layerTest({ logFormat: "pretty", logLevel: "Warn" })))
      yield* Effect.provide(Effect.andThen(Effect.logInfo("no"), Effect.logWarning("yes")), layer)
      assert.lengthOf(yield* TestConsole.errorLines, 1)
      assert.lengthOf(yield* TestConsole.logLines, 0)
    }).pipe(Effect.provide(TestConsole.layer))
  )
})
