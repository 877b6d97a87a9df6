/** What programs show where a link to a room is shared. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { png } from "../../support/picture.ts"
import { asServer, layerWith, Usher } from "../../http/support/usherFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** The tags of Open Graph, by name. */
const tagsOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<meta property="og:(\w+)" content="([^"]*)"/g)].map(([, name, content]) => [name, content])
  )

const aPicture = Effect.gen(function* () {
  const { admin, brand } = yield* Usher
  const headers = { ...asServer(brand.secretKey), "content-type": "image/png" }
  return (yield* admin({ method: "POST", path: "/api/pictures", headers, body: png })).body.url as string
})

const queues = [{ name: "Queue", admitRate: 0 }]

describe("A shared link to a room", () => {
  layer(layerWith({ publicUrl: "https://drops.example" }), { excludeTestServices: true })((it) => {
    it.effect("shows what the brand has set, with absolute addresses", () =>
      Effect.gen(function* () {
        const shareImageUrl = yield* aPicture
        const theme = { shareTitle: 'The "new" one', shareDescription: "On Friday.", shareImageUrl }
        const room = yield* Fixture.room({ queues }, { theme })
        for (const path of ["", "place?lang=de"]) {
          const { text } = yield* room.get(path)
          assert.deepInclude(tagsOf(text), {
            type: "website",
            title: "The &quot;new&quot; one",
            description: "On Friday.",
            image: `https://drops.example${shareImageUrl}`,
            url: `https://drops.example/e/${room.experienceId}`
          })
          assert.include(text, '<meta name="twitter:card" content="summary_large_image"')
        }
      })
    )

    it.effect("shows title, picture and rules of the room without that", () =>
      Effect.gen(function* () {
        const theme = { headerImageUrl: "https://cdn.example/shoe.jpg" }
        const { experience, ...room } = yield* Fixture.room({ queues }, { theme })
        const tags = tagsOf((yield* room.get("")).text)
        assert.deepInclude(tags, { title: experience.name, image: theme.headerImageUrl })
        assert.include(tags["description"], "People are admitted in order of arrival.")
      })
    )
  })

  layer(Fixture.layer, { excludeTestServices: true })("of an installation without a public address", (it) => {
    it.effect("names no address that nobody could open", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues }, { theme: { shareImageUrl: yield* aPicture } })
        const { text } = yield* room.get("")
        assert.notProperty(tagsOf(text), "image")
        assert.notProperty(tagsOf(text), "url")
      })
    )
  })
})
