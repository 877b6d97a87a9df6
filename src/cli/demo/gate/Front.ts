/**
 * What stands in front of the sample shop: nginx with `usher gate` beside it where nginx is installed, else the gate in
 * the shop's own process.
 */
import { Console, Effect, FileSystem, Schedule, type Scope } from "effect"
import { HttpClient } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createGate } from "../../../client/nodeGate.ts"
import { DemoFailed } from "../DemoFailed.ts"
import { freePort } from "../DemoServer.ts"
import { type Before, make as makeShop, type Shop } from "./Shop.ts"

export interface GateAddress {
  readonly url: string
  readonly gateId: string
  readonly key: string
}

export interface Front {
  readonly url: string
  readonly shop: Shop
  /** What it is, for people. */
  readonly name: string
}

const main = fileURLToPath(new URL("../../../main.ts", import.meta.url))

const failed = (what: string) => (cause: unknown) => new DemoFailed({ message: `${what}: ${String(cause)}` })

/** Stands in front of a new shop while the scope is open. `directory` takes the files of nginx. */
export const make = Effect.fnUntraced(function* (
  gate: GateAddress,
  directory: string
): Effect.fn.Return<
  Front,
  DemoFailed,
  Scope.Scope | ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | HttpClient.HttpClient
> {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const hasNginx = yield* spawner.string(ChildProcess.make("nginx", ["-v"], { stdin: "ignore" })).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
  if (hasNginx) return yield* behindNginx(gate, directory)
  yield* Console.log("  nginx is not installed, so the gate is in the shop's own process.")
  const shop = yield* makeShop(inProcess(gate))
  return { url: `http://127.0.0.1:${shop.port}`, shop, name: "the gate in the shop's own process" }
})

const inProcess = (address: GateAddress): Before => {
  const gate = createGate({ ...address, report: () => {} })
  return (incoming, outgoing, shop) =>
    void gate(incoming, outgoing).then((hasAnswered) => hasAnswered || shop(incoming, outgoing))
}

const behindNginx = Effect.fnUntraced(function* ({ url, gateId, key }: GateAddress, directory: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const files = yield* FileSystem.FileSystem
  const shop = yield* makeShop()
  const [gatePort, port] = yield* Effect.all([freePort, freePort])
  const listen = `127.0.0.1:${gatePort}`
  const gateArguments = [main, "gate", "--url", url, "--gate", gateId, "--listen", listen]
  yield* spawner
    .spawn(
      ChildProcess.make(process.execPath, gateArguments, {
        env: { USHER_GATE_KEY: key },
        extendEnv: true,
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore"
      })
    )
    .pipe(Effect.mapError(failed("usher gate does not start")))
  yield* answers(`http://${listen}/health`)
  const file = join(directory, "nginx.conf")
  yield* Effect.mapError(
    files.writeFileString(file, configuration({ directory, port, gate: listen, shop: `127.0.0.1:${shop.port}` })),
    failed("No configuration for nginx")
  )
  yield* spawner
    .spawn(
      ChildProcess.make("nginx", ["-c", file, "-e", join(directory, "nginx-error.log")], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore"
      })
    )
    .pipe(Effect.mapError(failed("nginx does not start")))
  const front: Front = { url: `http://127.0.0.1:${port}`, shop, name: "nginx, with usher gate beside it" }
  yield* answers(front.url)
  return front
})

/** Waits until something answers there. */
const answers = (url: string) =>
  Effect.flatMap(HttpClient.HttpClient, (http) => http.get(url)).pipe(
    Effect.timeout("2 seconds"),
    Effect.retry({ times: 300, schedule: Schedule.spaced("100 millis") }),
    Effect.asVoid,
    Effect.mapError(failed(`Nothing answers at ${url}`))
  )

interface Places {
  readonly directory: string
  readonly port: number
  readonly gate: string
  readonly shop: string
}

/** nginx asks the gate about each request, and hands its cookie, its redirect or its refusal on. */
const configuration = ({ directory, port, gate, shop }: Places): string => `
daemon off;
pid ${directory}/nginx.pid;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${directory}/nginx-${name};`).join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    location / {
      auth_request /.usher/ask;
      auth_request_set $usher_cookie $upstream_http_set_cookie;
      auth_request_set $usher_location $upstream_http_location;
      auth_request_set $usher_status $upstream_http_x_usher_status;
      add_header Set-Cookie $usher_cookie;
      error_page 401 = @usher_room;
      error_page 403 = @usher_refused;
      proxy_set_header Host $http_host;
      proxy_pass http://${shop};
    }
    location = /.usher/ask {
      internal;
      proxy_pass http://${gate}/auth-request;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Original-URI $request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Forwarded-Host $http_host;
    }
    location = /.usher/return {
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_pass http://${gate};
    }
    location @usher_room {
      add_header Set-Cookie $usher_cookie always;
      return 303 $usher_location;
    }
    location @usher_refused {
      if ($usher_status = 429) { return 429; }
      return 503;
    }
  }
}
`
