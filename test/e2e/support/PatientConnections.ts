/**
 * Connections of a client that does as it is told: it comes back later, and tries another node when a connection breaks.
 */
import { type HttpAnswer, HttpConnections, type HttpRequest } from "./HttpConnections.ts"
import { pause } from "./Processes.ts"

const patienceMillis = 15_000
const retryPauseMillis = 20

export class PatientConnections extends HttpConnections {
  /** The first answer that is not "come back later"; fails if there is none for too long. */
  override async send(message: HttpRequest): Promise<HttpAnswer> {
    const what = `${message.method} ${message.path}`
    let last = ""
    for (const begun = performance.now(); performance.now() - begun < patienceMillis; await pause(retryPauseMillis)) {
      const answer = await super.send(message).catch((error: unknown) => void (last = String(error)))
      if (answer !== undefined && answer.status !== 503) return answer
      if (answer !== undefined) last = "503"
    }
    throw new Error(`${what} was not answered within ${patienceMillis} ms, lastly: ${last}`)
  }
}
