/** `usher verify-draw`: checks a draw from its proof alone. It needs no server, no database and no settings. */
import { Console, Data, Effect, FileSystem, Option, Result, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { decodeProof, type Proof } from "../domain/draw/proof/Proof.ts"
import { type Check, type Report, verify } from "../domain/draw/proof/Verification.ts"

/** The proof is invalid or unreadable. */
class ProofRefused extends Data.TaggedError("ProofRefused")<{ readonly message: string }> {
  // The command line has printed the message. A log entry with a stack would only hide it.
  override readonly [Runtime.errorReported] = false
}

const refused = (message: string) => Effect.fail(new ProofRefused({ message }))

const hex = (digits: number, described: string) => (flag: Flag.Flag<string>) =>
  flag.pipe(
    Flag.withDescription(described),
    Flag.filter(
      (text) => text.length === digits && /^[0-9a-f]+$/.test(text),
      () => `${digits} hexadecimal digits in lower case`
    ),
    Flag.optional
  )

const options = {
  source: Argument.String("proof").pipe(Argument.withDescription("A file with the proof, or its URL")),
  key: Flag.String("key").pipe(
    Flag.withDescription("A publishable key, which a URL of the Consumer API requires"),
    Flag.optional
  ),
  commitment: Flag.String("commitment").pipe(
    hex(64, "The seedCommitment that was published before the draw; the proof must have the same")
  ),
  digest: Flag.String("digest").pipe(
    hex(64, "The entriesDigest that was published before the drawing; the proof must have the same")
  ),
  entry: Flag.String("entry").pipe(hex(26, "The id of an entry, as its receipt names it: it must be in the list"))
}

/** The command `verify-draw`. */
export const command = Command.make(
  "verify-draw",
  options,
  Effect.fnUntraced(function* ({ source, key, commitment, digest, entry }) {
    const proof = yield* parsed(source, yield* read(source, key))
    // Loaded only here: loading its arithmetic would slow the start of every other command.
    const { verifyBeacon } = yield* Effect.promise(() => import("../beacon/Quicknet.ts"))
    const report = verify(proof, Option.some(verifyBeacon))
    const compared = [
      ...expected("seedCommitment is the one that was published before", commitment, proof.seedCommitment),
      ...expected("entriesDigest is the one that was published before", digest, proof.entriesDigest)
    ]
    const place = Option.map(entry, (id) => placeOf(id, proof, report))
    const checks = [...report.checks, ...compared, ...Option.toArray(Option.map(place, ({ check }) => check))]
    yield* Console.log(
      readable(
        checks,
        report,
        Option.map(place, ({ summary }) => summary)
      )
    )
    const failures = checks.filter(({ holds }) => !holds).length
    if (failures > 0) return yield* refused(`the proof is refused: ${failures} of ${checks.length} checks failed.`)
    yield* Console.log(`\nThe proof holds: ${proof.winners.length} winners of ${proof.entries.length} entries.`)
  })
).pipe(
  Command.withDescription(
    "Check a draw from its proof alone: compute the winners again, and show the checks made and the facts that a " +
      "proof cannot show. Ends with code 0 if the proof holds, else with 1."
  ),
  Command.withExamples([
    { command: "usher verify-draw proof.json", description: "A file" },
    {
      command:
        "usher verify-draw https://usher.example.com/api/draws/0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a/proof --key pk_live_...",
      description: "From the Consumer API"
    },
    {
      command: "usher verify-draw proof.json --entry 3f9c2a7b1d0e8f6a5b4c3d2e1f",
      description: "Also check that an entry was in the list"
    }
  ])
)

const read = (source: string, key: Option.Option<string>): Effect.Effect<string, ProofRefused, FileSystem.FileSystem> =>
  /^https?:\/\//.test(source) ? download(source, key) : readFile(source)

const readFile = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(path)).pipe(
    Effect.catch(({ message }) => refused(`${path} cannot be read: ${message}`))
  )

const download = (url: string, key: Option.Option<string>) =>
  HttpClient.get(url, { headers: Option.isSome(key) ? { "x-publishable-key": key.value } : {} }).pipe(
    Effect.flatMap(HttpClientResponse.filterStatusOk),
    Effect.flatMap((response) => response.text),
    Effect.catch(({ message }) => refused(`${url} cannot be fetched: ${message}`)),
    Effect.provide(FetchHttpClient.layer)
  )

const parsed = (source: string, text: string): Effect.Effect<Proof, ProofRefused> => {
  const json = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(json)) return refused(`${source} is not JSON.`)
  const proof = decodeProof(json.success)
  return Result.isFailure(proof)
    ? refused(`${source} is not the proof of a draw: ${proof.failure.message.replace(/(?<!\s)\s*\n\s*/g, " ")}`)
    : Effect.succeed(proof.success)
}

const expected = (what: string, wanted: Option.Option<string>, found: string): ReadonlyArray<Check> =>
  Option.isSome(wanted) ? [{ what, holds: wanted.value === found }] : []

/** Describes an entry's place, and checks that it is in the list. */
const placeOf = (id: string, { winners, withdrawn, entries }: Proof, { order }: Report) => {
  const isListed = entries.some((entry) => entry.id === id)
  const place = order.indexOf(id) + 1
  const fate = winners.includes(id) ? "won" : withdrawn.includes(id) ? "withdrew" : "was not selected"
  return {
    check: { what: `the entry ${id} is in the list`, holds: isListed },
    summary: isListed
      ? `The entry ${id} is number ${place} of the drawn order, and ${fate}.`
      : `There is no entry ${id}.`
  }
}

const readable = (checks: ReadonlyArray<Check>, { notProven }: Report, summary: Option.Option<string>): string =>
  [
    ...checks.map(({ what, holds }) => `${holds ? "  holds  " : "  FAILS  "}${what}`),
    ...Option.toArray(Option.map(summary, (line) => `\n${line}`)),
    "",
    "Not proven:",
    ...notProven.map((sentence) => `  - ${sentence}`)
  ].join("\n")
