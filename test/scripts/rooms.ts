/**
 * Visitors come to a room by its own requests. The server is killed while they arrive, and started again. Each must keep
 * its one place, in the committed order, and get one grant, within the rate. Then visitors wait on streams, and
 * their memory is compared with that of streams of the Consumer API. Examples:
 *
 *     npm run prove -- rooms --visitors 2000 --rooms 10000 --seed 1
 *     npm run prove -- rooms --visitors 200 --rooms 0
 */
import { roomsProof } from "../e2e/proofs/rooms/RoomsProof.ts"
import { type Memory, streamsMemory } from "../e2e/proofs/rooms/StreamsProof.ts"
import { conclude, options } from "./Report.ts"

const { visitors, rooms, seed } = options({ visitors: 2_000, rooms: 10_000, seed: 1 })

/** Each visitor is in line for about this time. */
const seconds = 20
const kibibytesMax = 30

const figures = await roomsProof({ visitors, seed, admitRate: visitors * (60 / seconds), arrivalSeconds: seconds / 2 })
conclude(
  "a room keeps the places of its visitors",
  {
    visitors,
    "told a place before the kill": figures.toldBefore,
    places: figures.places,
    grants: figures.grants,
    "admissions out of sequence": figures.inversions,
    "repeated requests and streams": figures.retries,
    "from start to ready": `${figures.restartMillis.toFixed(0)} ms`
  },
  figures.violations,
  figures.places === visitors && figures.grants === visitors
)

const written = ({ heap, resident }: Memory) => `${heap.toFixed(1)} KiB of heap, ${resident.toFixed(1)} KiB resident`

if (rooms > 0) {
  const ofRooms = await streamsMemory("rooms", rooms)
  const ofApi = await streamsMemory("consumer API", rooms)
  conclude(
    `a stream of a room takes at most ${kibibytesMax} KiB`,
    { streams: rooms, "a stream of a room": written(ofRooms), "a stream of the Consumer API": written(ofApi) },
    [],
    ofRooms.resident <= kibibytesMax
  )
}
