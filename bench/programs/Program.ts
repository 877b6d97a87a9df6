/**
 * The measured programs, which do the same work behind the same routes. Each run starts its program with a new
 * database, so that runs do not affect each other.
 */
import http, { type IncomingMessage } from "node:http"
import https from "node:https"
import { join } from "node:path"
import type { RequestTemplate, Watched } from "../load/Job.ts"
import type { DatabaseServer } from "../setup/Database.ts"
import type { RedisServer } from "../setup/Redis.ts"
import { freePort, type Started, start, untilReady } from "../setup/Processes.ts"
import type { ProgramName } from "../Arguments.ts"
import type { Fixture } from "../setup/Fixture.ts"

/** The resources that programs need from the bench. */
export interface Setup {
  readonly workDirectory: string
  readonly database: DatabaseServer
  readonly redis: RedisServer | { readonly missing: string }
  readonly fixture: Fixture
}

/** Some programs read a million places when they start. */
const readySecondsMax = 120

export interface Program {
  readonly name: ProgramName | "noop-open"
  /** The reason that the program cannot run here; absent if it can. */
  readonly missing?: string
  /** Starts the program with one open queue in which `waiting` consumers already wait. */
  start(waiting: number): Promise<Running>
}

export interface Running {
  readonly port: number
  readonly processId: number
  /** The processes that serve its requests: `server`, `database`, `redis`. */
  readonly watched: ReadonlyArray<Watched>
  /** Returns the number of entries in its store; undefined if it keeps none. */
  countEntries(): Promise<number | undefined>
  /** Stops it and removes its data. */
  stop(): Promise<void>
}

export interface ServerOptions {
  readonly name: string
  /** The file that Node runs. */
  readonly script: string
  readonly scriptArguments?: ReadonlyArray<string>
  readonly nodeOptions?: ReadonlyArray<string>
  readonly environment: { readonly [name: string]: string }
  /** The environment variable for its port. */
  readonly portVariable: string
  /** The request that succeeds once the server is ready. */
  readonly ready: { readonly path: string; readonly headers?: { readonly [name: string]: string } }
}

/** Starts a program's server on a free port and waits until it is ready. */
export async function startServer(
  setup: Setup,
  options: ServerOptions
): Promise<{ readonly port: number; readonly server: Started }> {
  const { name, script, scriptArguments = [], nodeOptions = [], environment, portVariable } = options
  const port = await freePort()
  const server = start({
    name,
    command: process.execPath,
    arguments: [...nodeOptions, script, ...scriptArguments],
    environment: { NODE_ENV: "production", ...environment, [portVariable]: String(port) },
    logDirectory: join(setup.workDirectory, "log")
  })
  const { certificate } = setup.fixture
  await untilReady(server, () => answersWell(port, options.ready, certificate !== undefined), readySecondsMax)
  return { port, server }
}

/** Returns whether a server responds with a success within five seconds. */
export function answersWell(port: number, { path, headers = {} }: ServerOptions["ready"], tls = false) {
  const options = { host: "127.0.0.1", port, path, headers, signal: AbortSignal.timeout(5000) }
  return new Promise<boolean>((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage) => {
      answer.resume().on("end", () => resolve(answer.statusCode === 200))
    }
    const sent = tls ? https.get({ ...options, rejectUnauthorized: false }, onAnswer) : http.get(options, onAnswer)
    sent.on("error", reject)
  })
}

/** `POST /queues/{id}/enter`, the same for every program. */
export function enterRequest(fixture: Fixture, queueId = fixture.queueId): RequestTemplate {
  return request("POST", `/api/queues/${queueId}/enter`, fixture)
}

/** `GET /queues/{id}/status`, the same for every program. */
export function statusRequest(fixture: Fixture): RequestTemplate {
  return request("GET", `/api/queues/${fixture.queueId}/status`, fixture)
}

/** `POST /queues/{id}/leave`. */
export function leaveRequest(fixture: Fixture): RequestTemplate {
  return request("POST", `/api/queues/${fixture.queueId}/leave`, fixture)
}

/** `GET /queues/{id}/events`. */
export function eventsRequest(fixture: Fixture): RequestTemplate {
  return request("GET", `/api/queues/${fixture.queueId}/events`, fixture)
}

/** `POST /auctions/{id}/bid`, each bid higher than the previous one. */
export function bidRequest(fixture: Fixture, auctionId: string): RequestTemplate {
  const body = '{"amount":"{number}"}'
  const length = body.length - "{number}".length + 9
  const { head } = request("GET", "", fixture)
  return {
    head: head
      .replace(/^GET  /, `POST /api/auctions/${auctionId}/bid `)
      .replace("Authorization:", `Content-Type: application/json\r\nContent-Length: ${length}\r\nAuthorization:`),
    tail: `\r\n\r\n${body}`
  }
}

function request(method: string, path: string, fixture: Fixture): RequestTemplate {
  const body = method === "POST" ? "Content-Length: 0\r\n" : ""
  return {
    head:
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Publishable-Key: ${fixture.publishableKey}\r\n` +
      `${fixture.headers ?? ""}${body}Authorization: Bearer `,
    tail: "\r\n\r\n"
  }
}

/** `POST /auth/guest`, complete: the first request of a new consumer. */
export function sessionRequest(fixture: Fixture): string {
  const { publishableKey, headers = "" } = fixture
  return (
    `POST /api/auth/guest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Publishable-Key: ${publishableKey}\r\n` +
    `${headers}Content-Length: 0\r\n\r\n`
  )
}
