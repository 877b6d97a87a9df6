/** The real server as a separate process on its own database. Tests kill, stop and restart it. */
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as FreshDatabase from "./FreshDatabase.ts"
import { HttpConnections } from "./HttpConnections.ts"
import * as NewOrganization from "./NewOrganization.ts"
import * as Processes from "./Processes.ts"
import type { Step } from "../../../src/store/journal/Failpoint.ts"

/** An organization's credentials from the command line. */
export interface Keys {
  readonly organizationId: string
  readonly publishableKey: string
  readonly secretKey: string
  readonly testSecretKey: string
}

/** The program that kills itself at a step after SIGUSR2. */
const failpointProgram = fileURLToPath(new URL("failpointServer.ts", import.meta.url))

/** Returns the program of a server that kills itself when it has reached the step so often after SIGUSR2. */
export const failingAt = (step: Step, passes: number): ReadonlyArray<string> => [
  failpointProgram,
  "serve",
  step,
  `${passes}`
]

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The program of the command line. */
export const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

const readySecondsMax = 600

export interface Options {
  /** Another server whose database this one shares; that server disposes it. */
  readonly sharing?: ServerUnderTest
  /** The database to use; its creator disposes it. */
  readonly database?: FreshDatabase.FreshDatabase
  /** Settings that override the defaults of servers under test. */
  readonly settings?: NodeJS.ProcessEnv
}

export class ServerUnderTest {
  readonly consumerUrl: string
  readonly adminUrl: string
  /** Its node name. */
  readonly name: string
  readonly database: FreshDatabase.FreshDatabase
  private readonly ownsDatabase: boolean
  private readonly environment: NodeJS.ProcessEnv
  private readonly probes: HttpConnections
  private process: Processes.Process | undefined

  /** Creates a server without starting it, by default on a new database. It keeps its ports over restarts. */
  static async make(options: Options = {}): Promise<ServerUnderTest> {
    const [consumerPort, adminPort] = await Promise.all([Processes.freePort(), Processes.freePort()])
    const database = options.sharing?.database ?? options.database ?? (await FreshDatabase.make())
    return new ServerUnderTest(database, consumerPort, adminPort, options)
  }

  private constructor(
    database: FreshDatabase.FreshDatabase,
    consumerPort: number,
    adminPort: number,
    { sharing, database: given, settings }: Options
  ) {
    this.database = database
    this.ownsDatabase = sharing === undefined && given === undefined
    this.name = `test-${randomBytes(3).toString("hex")}`
    this.consumerUrl = `http://127.0.0.1:${consumerPort}`
    this.adminUrl = `http://127.0.0.1:${adminPort}`
    this.probes = new HttpConnections(this.adminUrl, 1)
    this.environment = {
      ...process.env,
      HOST: "127.0.0.1",
      ADMIN_HOST: "",
      CONSUMER_PORT: `${consumerPort}`,
      ADMIN_PORT: `${adminPort}`,
      REDIS_URL: "",
      LOG_LEVEL: "warn",
      LOG_FORMAT: "logfmt",
      NODE_OPTIONS: "",
      NODE_NAME: this.name,
      ...database.environment,
      ...settings
    }
  }

  /**
   * Starts the process and waits until it is ready. Returns the milliseconds that this took. Default program: `serve`.
   */
  start(program: ReadonlyArray<string> = [main, "serve"]): Promise<number> {
    return this.untilReady(new Processes.Process(program, this.environment))
  }

  /** Starts it with `npm start`, like an operator. Signals go to npm alone. */
  startByNpm(): Promise<number> {
    return this.untilReady(new Processes.Process(["--prefix", root, "start"], this.environment, "npm"))
  }

  private async untilReady(started: Processes.Process): Promise<number> {
    const begun = performance.now()
    this.process = started
    while (performance.now() - begun < readySecondsMax * 1000) {
      if (started.ending !== undefined) throw new Error(`the server exited with ${endingText(started)}`)
      if (await this.isReady()) return performance.now() - begun
      await Processes.pause(20)
    }
    await started.end("SIGKILL")
    throw new Error(`the server was not ready within ${readySecondsMax} s:\n${started.log()}`)
  }

  /** Returns whether `/ready` succeeds. */
  async isReady(): Promise<boolean> {
    const answer = await this.probes.send({ method: "GET", path: "/ready" }).catch(() => undefined)
    return answer?.status === 200
  }

  /** Sends SIGKILL and waits for the exit. */
  async kill(): Promise<void> {
    await this.process?.end("SIGKILL")
    this.process?.killRest()
  }

  signal(signal: NodeJS.Signals): void {
    this.process?.signal(signal)
  }

  /** Sends SIGTERM. Returns the exit and the milliseconds until it. */
  async terminate(secondsMax = 120): Promise<Processes.Ending & { readonly millis: number }> {
    const begun = performance.now()
    const ending = await this.process!.end("SIGTERM", secondsMax)
    const millis = performance.now() - begun
    if (this.process!.killRest())
      throw new Error(`npm exited with ${endingText(this.process!)}, and the server kept running`)
    return { ...ending, millis }
  }

  /** Waits until the process exits without a signal from here. */
  async untilEnded(secondsMax: number): Promise<Processes.Ending | undefined> {
    return Processes.within(this.process!.ended, secondsMax)
  }

  get processId(): number {
    return this.process!.id
  }

  /** Whether the process runs. */
  get isRunning(): boolean {
    return this.process !== undefined && this.process.ending === undefined
  }

  /** The last output of the process. */
  get log(): string {
    return this.process?.log() ?? ""
  }

  /** Creates an organization without rate limits; in an embedded database through the command line. */
  async createOrganization(): Promise<Keys> {
    if (this.database.url !== undefined) return NewOrganization.make(this.database.url)
    const args = ["organizations", "create", "--name", "Test", "--plan", "enterprise", "--json"]
    return JSON.parse(await this.usher(args)) as Keys
  }

  /** Runs the command line with the server's settings. Returns its output. */
  usher(args: ReadonlyArray<string>, program = main): Promise<string> {
    return Processes.run([program, ...args], this.environment)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.probes.close()
    await this.kill()
    if (this.ownsDatabase) await this.database[Symbol.asyncDispose]()
  }
}

const endingText = (ended: Processes.Process): string =>
  `${ended.ending?.signal ?? `code ${ended.ending?.code}`}:\n${ended.log()}`
