/** `usher gate` as a process of its own. */
import { freePort, pause, Process } from "../Processes.ts"
import { main } from "../ServerUnderTest.ts"

export interface GateKey {
  readonly id: string
  readonly key: string
}

export class GateProcess {
  readonly url: string
  private readonly process: Process

  /** Starts it. Returns once it knows its record. */
  static async make(usherUrl: string, { id, key }: GateKey, more: ReadonlyArray<string> = []): Promise<GateProcess> {
    const listen = `127.0.0.1:${await freePort()}`
    const args = [main, "gate", "--url", usherUrl, "--gate", id, "--listen", listen, ...more]
    const environment = { ...process.env, NODE_OPTIONS: "", LOG_FORMAT: "logfmt", USHER_GATE_KEY: key }
    const gate = new GateProcess(`http://${listen}`, new Process(args, environment))
    for (let tries = 0; tries < 2_400 && gate.process.ending === undefined; tries++) {
      const answer = await fetch(`${gate.url}/health`).catch(() => undefined)
      if (answer?.status === 200) return gate
      await pause(50)
    }
    throw new Error(`usher gate did not start:\n${gate.log}`)
  }

  private constructor(url: string, process: Process) {
    this.url = url
    this.process = process
  }

  /** Its last output. */
  get log(): string {
    return this.process.log()
  }

  get processId(): number {
    return this.process.id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.end("SIGKILL")
  }
}
