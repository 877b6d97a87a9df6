/** `usher gate`: a small process beside a proxy, which answers whether a request may go on to the site. */
import { Config, Effect, FileSystem, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { isUuid } from "../domain/values/Ids.ts"
import { StartRefused } from "../settings/Settings.ts"
import { withModule } from "./runtime/LazyModule.ts"
import { example } from "./runtime/Arguments.ts"
import { interruptible } from "./runtime/Signals.ts"

const options = {
  url: Flag.String("url").pipe(
    Flag.withDescription("The Consumer API's address"),
    Flag.filter(
      (text) => /^https?:\/\//.test(text) && URL.canParse(text),
      () => "an http or https address"
    )
  ),
  gate: Flag.String("gate").pipe(
    Flag.withDescription("The id of the gate"),
    Flag.filter(isUuid, () => "the id of a gate")
  ),
  listen: Flag.String("listen").pipe(
    Flag.withDescription("Where the proxy asks, as HOST:PORT. Only the proxy should reach it"),
    Flag.filter(
      (text) => /^[^\s:]+:\d{1,5}$/.test(text),
      () => "HOST:PORT"
    ),
    Flag.withDefault("127.0.0.1:4180")
  ),
  clientAddress: Flag.String("client-address").pipe(
    Flag.withDescription(
      "A header in which the proxy itself names the visitor's address, for example X-Real-IP. Usher's limits for each " +
        "address hold then. Of several addresses the last one counts"
    ),
    Flag.filter(
      (text) => /^[\w-]{1,100}$/.test(text),
      () => "the name of a header"
    ),
    Flag.optional
  ),
  keyFile: Flag.String("key-file").pipe(
    Flag.withDescription("A file with the gate's key, instead of USHER_GATE_KEY in the environment"),
    Flag.optional
  )
}

/** The key is not a flag, because other users of the machine see the arguments of a process. */
const keyOf = (file: Option.Option<string>) =>
  Option.isSome(file)
    ? Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(file.value)).pipe(
        Effect.map((text) => Redacted.make(text.trim())),
        Effect.mapError(({ message }) => new StartRefused({ message: `${file.value}: ${message}` }))
      )
    : Config.Redacted("USHER_GATE_KEY").pipe(
        Effect.catchTag("ConfigError", () =>
          Effect.fail(new StartRefused({ message: "USHER_GATE_KEY has to be in the environment: gk_live_…" }))
        )
      )

/** The command `gate`. */
export const command = Command.make("gate", options, ({ url, gate, listen, clientAddress, keyFile }) =>
  Effect.gen(function* () {
    const key = yield* keyOf(keyFile)
    const clientAddressHeader = Option.getOrUndefined(clientAddress)
    const [host = "", port = ""] = listen.split(":")
    yield* withModule(
      () => import("./gate/GateServer.ts"),
      ({ serve }) =>
        Effect.andThen(serve({ url, gateId: gate, key, host, port: Number(port), clientAddressHeader }), Effect.never)
    )
  }).pipe(Effect.scoped, interruptible)
).pipe(
  Command.withDescription(
    "Answer a proxy whether a request may go on to the site: /auth-request (nginx), /forward-auth (Caddy, Traefik), " +
      "/ext-authz (Envoy), and the return path. It needs no database. /health and /metrics are for operators."
  ),
  example(
    "USHER_GATE_KEY=gk_live_... usher gate --url https://usher.example.com --gate 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
    "Beside nginx"
  )
)
