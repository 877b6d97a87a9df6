/**
 * What is measured: programs that do the same work behind the same routes. Each run starts its program afresh, with a
 * database of its own, so that no run profits or suffers from an earlier one.
 */
import { join } from "node:path"
import type { RequestTemplate, Watched } from "../load/Job.ts"
import type { DatabaseServer } from "../setup/Database.ts"
import type { RedisServer } from "../setup/Redis.ts"
import { freePort, type Started, start, untilReady } from "../setup/Processes.ts"
import type { ProgramName } from "../Arguments.ts"
import type { Fixture } from "../setup/Fixture.ts"

/** What programs need from the bench. */
export interface Ground {
  readonly workDirectory: string
  readonly database: DatabaseServer
  readonly redis: RedisServer | { readonly missing: string }
  readonly fixture: Fixture
}

/** A million places are read back at the start of some. */
const readySecondsMax = 120

export interface Program {
  readonly name: ProgramName | "noop-open"
  /** Why it cannot run here, if it cannot. */
  readonly missing?: string
  /** Starts it with one open queue in which `waiting` consumers wait already. */
  start(waiting: number): Promise<Running>
}

export interface Running {
  readonly port: number
  readonly processId: number
  /** The processes whose time its requests cost: `server`, `database`, `redis`. */
  readonly watched: ReadonlyArray<Watched>
  /** How many entries its store holds; undefined if it keeps none. */
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
  /** The environment variable that names its port. */
  readonly portVariable: string
  /** What to ask it until it answers with a success. */
  readonly ready: { readonly path: string; readonly headers?: { readonly [name: string]: string } }
}

/** Starts a program's server on a free port and waits until it is ready. */
export async function startServer(
  ground: Ground,
  options: ServerOptions
): Promise<{ readonly port: number; readonly server: Started }> {
  const { name, script, scriptArguments = [], nodeOptions = [], environment, portVariable } = options
  const port = await freePort()
  const server = start({
    name,
    command: process.execPath,
    arguments: [...nodeOptions, script, ...scriptArguments],
    environment: { NODE_ENV: "production", ...environment, [portVariable]: String(port) },
    logDirectory: join(ground.workDirectory, "log")
  })
  await untilReady(server, () => answersWell(port, options.ready), readySecondsMax)
  return { port, server }
}

/** Whether a server answers with a success; one that needs long to answer is asked again. */
export async function answersWell(port: number, { path, headers = {} }: ServerOptions["ready"]): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers, signal: AbortSignal.timeout(5000) })
  await answer.arrayBuffer()
  return answer.ok
}

/** `POST /queues/{id}/enter` as every program takes it. */
export function enterRequest(fixture: Fixture, queueId = fixture.queueId): RequestTemplate {
  return request("POST", `/api/queues/${queueId}/enter`, fixture)
}

/** `GET /queues/{id}/status` as every program takes it. */
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

/** `POST /auctions/{id}/bid`, each bid higher than the one before. */
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
      `${body}Authorization: Bearer `,
    tail: "\r\n\r\n"
  }
}

/** `POST /auth/guest`, whole: what a new consumer asks first. */
export function sessionRequest(fixture: Fixture): string {
  const { publishableKey } = fixture
  return `POST /api/auth/guest HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Publishable-Key: ${publishableKey}\r\nContent-Length: 0\r\n\r\n`
}
