/**
 * The real server as a process of its own, on a database of its own, to be killed, stopped and started again.
 */
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as FreshDatabase from "./FreshDatabase.ts"
import { HttpConnections } from "./HttpConnections.ts"
import * as Processes from "./Processes.ts"

/** An organization's credentials, as the command line prints them. */
export interface Keys {
  readonly organizationId: string
  readonly publishableKey: string
  readonly secretKey: string
  readonly testSecretKey: string
}

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The command line's own program. */
export const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

const readySecondsMax = 30

export interface Options {
  /** Another server whose database this one uses too; it goes with the other. */
  readonly beside?: ServerUnderTest
  /** A database to use, which is its maker's to give up. */
  readonly database?: FreshDatabase.FreshDatabase
  /** Settings other than those of every server under test. */
  readonly settings?: NodeJS.ProcessEnv
}

export class ServerUnderTest {
  readonly consumerUrl: string
  readonly adminUrl: string
  /** What it calls itself. */
  readonly name: string
  readonly database: FreshDatabase.FreshDatabase
  private readonly ownsDatabase: boolean
  private readonly environment: NodeJS.ProcessEnv
  private readonly probes: HttpConnections
  private process: Processes.Process | undefined

  /** A server that is not running yet, on a fresh database unless told otherwise. Its ports stay the same over restarts. */
  static async make(options: Options = {}): Promise<ServerUnderTest> {
    const [consumerPort, adminPort] = await Promise.all([Processes.freePort(), Processes.freePort()])
    const database = options.beside?.database ?? options.database ?? (await FreshDatabase.make())
    return new ServerUnderTest(database, consumerPort, adminPort, options)
  }

  private constructor(
    database: FreshDatabase.FreshDatabase,
    consumerPort: number,
    adminPort: number,
    { beside, database: given, settings }: Options
  ) {
    this.database = database
    this.ownsDatabase = beside === undefined && given === undefined
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

  /** Starts the process, the command line's `serve` if no other is named, and waits until it is ready; answers after how many milliseconds it was. */
  start(program: ReadonlyArray<string> = [main, "serve"]): Promise<number> {
    return this.untilReady(new Processes.Process(program, this.environment))
  }

  /** The same with `npm start`, as an operator does. Signals go to npm alone. */
  startByNpm(): Promise<number> {
    return this.untilReady(new Processes.Process(["--prefix", root, "start"], this.environment, "npm"))
  }

  private async untilReady(started: Processes.Process): Promise<number> {
    const begun = performance.now()
    this.process = started
    while (performance.now() - begun < readySecondsMax * 1000) {
      if (started.ending !== undefined) throw new Error(`the server ended with ${endingText(started)}`)
      if (await this.isReady()) return performance.now() - begun
      await Processes.pause(20)
    }
    await started.end("SIGKILL")
    throw new Error(`the server was not ready within ${readySecondsMax} s:\n${started.log()}`)
  }

  /** True if the process says that it is ready. */
  async isReady(): Promise<boolean> {
    const answer = await this.probes.send({ method: "GET", path: "/ready" }).catch(() => undefined)
    return answer?.status === 200
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.process?.end("SIGKILL")
    this.process?.killRest()
  }

  signal(signal: NodeJS.Signals): void {
    this.process?.signal(signal)
  }

  /** SIGTERM; answers how it ended and after how many milliseconds. */
  async terminate(secondsMax = 30): Promise<Processes.Ending & { readonly millis: number }> {
    const begun = performance.now()
    const ending = await this.process!.end("SIGTERM", secondsMax)
    const millis = performance.now() - begun
    if (this.process!.killRest()) throw new Error(`npm ended with ${endingText(this.process!)}, and the server ran on`)
    return { ...ending, millis }
  }

  /** Waits until the process has ended by itself. */
  async untilEnded(secondsMax: number): Promise<Processes.Ending | undefined> {
    return Processes.within(this.process!.ended, secondsMax)
  }

  get processId(): number {
    return this.process!.id
  }

  /** True if the process runs. */
  get isRunning(): boolean {
    return this.process !== undefined && this.process.ending === undefined
  }

  /** What the process printed last. */
  get log(): string {
    return this.process?.log() ?? ""
  }

  /** An organization without rate limits, made on the command line beside the running server. */
  async createOrganization(): Promise<Keys> {
    const args = ["organizations", "create", "--name", "Test", "--plan", "enterprise", "--json"]
    return JSON.parse(await this.usher(args)) as Keys
  }

  /** Runs the command line to its end, with the server's settings; answers what it printed. */
  usher(args: ReadonlyArray<string>): Promise<string> {
    return Processes.run([main, ...args], this.environment)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.probes.close()
    await this.kill()
    if (this.ownsDatabase) await this.database[Symbol.asyncDispose]()
  }
}

const endingText = (ended: Processes.Process): string =>
  `${ended.ending?.signal ?? `code ${ended.ending?.code}`}:\n${ended.log()}`
