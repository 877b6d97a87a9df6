/**
 * Measures what the measures cost: the additions of one request, of one entry, and of one statement. Each figure is the
 * median of seven runs.
 *
 *     npm run bench:counting
 */
import { ApiMeasures } from "../../src/measures/HttpMeasures.ts"
import { JournalMeasures } from "../../src/measures/JournalMeasures.ts"
import { toText } from "../../src/measures/Family.ts"
import { MechanismMeasures } from "../../src/measures/MechanismMeasures.ts"
import { ActorMeter } from "../../src/engine/actor/ActorMeter.ts"
import { deciders } from "../../src/domain/mechanism/Mechanism.ts"
import { perCall } from "./perCall.ts"

const api = new ApiMeasures()
const entering = api.route("POST", "/api/queues/:queueId/enter")
perCall("a request (two readings of the clock)", 2_000_000, (index) => {
  api.inFlight++
  const startedAt = performance.now()
  entering.answered(index % 50 === 0 ? 429 : 200, (performance.now() - startedAt) / 1_000 + (index % 100) / 10_000)
  api.inFlight--
})

const mechanisms = new MechanismMeasures()
const meter = new ActorMeter(deciders.queue as never, mechanisms.of("queue"))
const entered = { _tag: "Entered", at: 1_767_225_600_000, consumerId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a" }
const events = Array.from({ length: 100 }, () => entered)
const outcomes = events.map(() => ({ view: undefined }))
const batch = { events, outcomes, consumerIds: new Set<string>(), recordChanged: false }
perCall("a batch of 100 entries, rates included", 20_000, () => {
  meter.took(events.length, undefined, entered.at)
  meter.committed(events)
  meter.answered(batch)
})

const journal = new JournalMeasures()
perCall("a statement", 1_000_000, (index) => {
  journal.statements.add("written")
  journal.statementSeconds.add((index % 100) / 10_000)
  journal.statementEvents.add(index % 1_000)
})
perCall("a scrape of these", 200, () => void toText([...mechanisms.families(), ...journal.families()]))
