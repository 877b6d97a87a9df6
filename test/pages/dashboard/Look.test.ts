/** The look of a drop at the dashboard: its form, and the room in a frame. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { Usher } from "../../http/support/usherFixture.ts"
import { woff2 } from "../../support/font.ts"
import { png } from "../../support/picture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formOf, layer as usher, room, textOf } from "../support/roomFixture.ts"
import { kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { statesOf } from "../../../src/pages/dashboard/look/RoomPreview.ts"

const later = "2033-01-01T00:00:00Z"

/** One mechanism of each kind. */
const everyKind = {
  queues: [{ name: "Line", admitRate: 30 }],
  draws: [{ name: "Raffle", winnerCount: 1, drawAt: later }],
  auctions: [{ name: "Lot", startPrice: "10", settleAt: later }],
  timedReleases: [{ name: "Sale" }],
  appointments: [{ name: "Fitting", slotDurationMinutes: 60, slotsFrom: later, slotsUntil: "2033-01-02T00:00:00Z" }],
  waitlist: { name: "Tell me" }
}

const admin = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

const aDrop = (...drop: Parameters<typeof room>) => Effect.map(room(...drop), ({ experience }) => experience)

const lookOf = (id: string) => `/dashboard/experiences/${id}/look`

layer(usher, { excludeTestServices: true })("The look of a drop at the dashboard", (it) => {
  it.effect("takes picture, logo, colours and texts, and the room shows them at once", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const { consumer } = yield* Usher
      const { id: experienceId } = yield* aDrop(everyKind, {
        theme: { fontHeading: "Georgia", muted: "#777777" },
        i18n: { en: { proof: "Evidence" }, xx: { granted: "?" } }
      })
      const form = yield* get(lookOf(experienceId))
      const saved = yield* submitFiles(
        form,
        "Save",
        { "headerImageUrl.file": png, "logoUrl.file": png },
        {
          primary: "#c9a86a",
          background: "#0e0d0b",
          "text.en.enterQueue": "Get in line",
          "text.de.soldOut": "Alle weg"
        }
      )
      assert.include(textOf(saved), "The look was saved.")
      assert.isBelow(gzipSync(saved.text).length, 40_000)
      const { theme, i18n } = yield* brand("GET", `/experiences/${experienceId}`)
      assert.deepInclude(theme, { primary: "#c9a86a", background: "#0e0d0b", fontHeading: "Georgia", muted: "#777777" })
      assert.deepStrictEqual(i18n, {
        en: { proof: "Evidence", enterQueue: "Get in line" },
        de: { soldOut: "Alle weg" },
        xx: { granted: "?" }
      })
      assert.match(theme.headerImageUrl, /^\/pictures\//)
      const shown = yield* consumer({ path: `/e/${experienceId}?lang=en` })
      assert.include(shown.text, `<img class="shot" src="${theme.headerImageUrl}"`)
      assert.include(shown.text, `<img src="${theme.logoUrl}"`)
      assert.include(textOf(shown), "Get in line")
      assert.include(textOf(saved), "Text on the accent colour is black: contrast 9.")
      const cleared = yield* submitFiles(saved, "Save", {}, { headerImageUrl: "", "text.de.soldOut": "" })
      assert.include(textOf(cleared), "The look was saved.")
      const after = yield* brand("GET", `/experiences/${experienceId}`)
      assert.deepStrictEqual([after.theme.headerImageUrl, after.i18n.de], [undefined, undefined])
      assert.strictEqual(after.theme.logoUrl, theme.logoUrl)
    })
  )

  it.effect("takes fonts, how people are addressed, the units left and what is shared, and shows the latter", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const { consumer } = yield* Usher
      const { id: experienceId } = yield* aDrop({ queues: [{ name: "Line", admitRate: 30 }] })
      const form = yield* get(lookOf(experienceId))
      const wrong = yield* submitFiles(
        form,
        "Save",
        { "fontUrl.file": png },
        { headingFontUrl: "https://cdn.example/a" }
      )
      assert.include(wrong.text, 'id="f-fontUrl.file-problem"')
      const typed = { address: "formal", showsUnitsLeft: "yes", shareTitle: "Soon", shareDescription: "On Friday." }
      const files = { "fontUrl.file": woff2, "shareImageUrl.file": png }
      const saved = yield* submitFiles(wrong, "Save", files, { ...typed, headingFontUrl: "" })
      assert.include(textOf(saved), "The look was saved.")
      assert.include(textOf(saved), "Soon On Friday. As it is shared once it is saved")
      assert.include(saved.text, "Sie sind an der Reihe")
      const { theme } = yield* brand("GET", `/experiences/${experienceId}`)
      assert.deepInclude(theme, { ...typed, showsUnitsLeft: true })
      assert.match(theme.fontUrl, /^\/fonts\//)
      const shown = yield* consumer({ path: `/e/${experienceId}?lang=de` })
      assert.include(shown.text, `src:url(${theme.fontUrl})`)
      const preview = yield* get(`${lookOf(experienceId)}/room?lang=de`)
      assert.include(preview.headers["content-security-policy"], "font-src 'self'")
      assert.include(preview.text, `src:url(${theme.fontUrl})`)
      const { showsUnitsLeft: _, ...others } = formOf(saved, "Save").fields
      const cleared = yield* submitFiles(
        { ...saved, text: saved.text.replaceAll('name="showsUnitsLeft"', 'name="x"') },
        "Save",
        {},
        { ...others, fontUrl: "" }
      )
      assert.include(textOf(cleared), "The look was saved.")
      const after = yield* brand("GET", `/experiences/${experienceId}`)
      assert.deepStrictEqual([after.theme.fontUrl, after.theme.showsUnitsLeft], [undefined, undefined])
    })
  )

  it.effect("says at its field what is wrong, and changes nothing", () =>
    Effect.gen(function* () {
      const { get, submitFiles } = yield* admin
      const { id: experienceId } = yield* aDrop(everyKind)
      const form = yield* get(lookOf(experienceId))
      const file = { "logoUrl.file": Buffer.from("no picture") }
      const refused = yield* submitFiles(form, "Save", file, {
        primary: "gold",
        headerImageUrl: "not an address",
        "text.de.ended": "Ende {unknown}"
      })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'id="f-primary-problem">Enter a colour such as #c9a86a.')
      assert.include(refused.text, 'id="f-logoUrl.file-problem"')
      assert.include(refused.text, 'id="f-text.de.ended-problem">At most 1,000 characters')
      assert.strictEqual(formOf(refused, "Save").fields["primary"], "gold")
      const again = yield* submitFiles(refused, "Save", {}, { primary: "", "text.de.ended": "" })
      assert.include(again.text, 'id="f-headerImageUrl-problem"')
      assert.isNull((yield* brand("GET", `/experiences/${experienceId}`)).theme)
    })
  )

  it.effect("shows the real room in each state of each kind, and each language", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const { id: experienceId } = yield* aDrop(everyKind)
      const { data } = yield* brand("GET", `/distributions?experienceId=${experienceId}`)
      assert.sameMembers(
        data.map(({ type }: any) => type),
        kinds as never
      )
      const frame = `${lookOf(experienceId)}/room`
      const texts = new Set<string>()
      let states = 0
      for (const { id, type } of data) {
        for (const [state, title] of statesOf(type)) {
          const page = yield* get(`${frame}?at=${id}&state=${state}`)
          assert.strictEqual(page.status, 200, `${type} ${title}`)
          assert.include(page.text, `data-kind="${type}"`, `${type} ${title}`)
          assert.notInclude(page.text, "<script")
          texts.add(`${type} ${textOf(page)}`)
          states++
        }
      }
      assert.strictEqual(texts.size, states)
      const arabic = yield* get(`${frame}?lang=ar`)
      assert.include(arabic.text, '<html lang="ar" dir="rtl">')
      const screen = yield* get(`${lookOf(experienceId)}?at=${data[0].id}&state=open&lang=ar`)
      assert.include(screen.text, `src="${frame}?at=${data[0].id}&amp;state=open&amp;lang=ar"`)
    })
  )

  it.effect("lets the dashboard alone frame the preview, which runs nothing, and no room at all", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const { consumer } = yield* Usher
      const { id: experienceId } = yield* aDrop(everyKind)
      const policyOf = ({ headers }: { readonly headers: any }): ReadonlyArray<string> =>
        headers["content-security-policy"].split("; ")
      const preview = policyOf(yield* get(`${lookOf(experienceId)}/room`))
      for (const part of [
        "frame-ancestors 'self'",
        "sandbox",
        "script-src 'none'",
        "form-action 'none'",
        "base-uri 'none'"
      ])
        assert.include(preview, part)
      const screen = policyOf(yield* get(lookOf(experienceId)))
      assert.includeMembers([...screen], ["frame-src 'self'", "frame-ancestors 'none'"])
      for (const path of [`/e/${experienceId}`, `/e/${experienceId}/place`])
        assert.include(policyOf(yield* consumer({ path })), "frame-ancestors 'none'")
      for (const path of ["/dashboard", `/dashboard/experiences/${experienceId}`]) {
        const policy = policyOf(yield* get(path))
        assert.include(policy, "frame-ancestors 'none'")
        assert.notInclude(policy.join(), "frame-src")
      }
    })
  )

  it.effect("shows what is typed before it is saved", () =>
    Effect.gen(function* () {
      const { get, send } = yield* admin
      const { id: experienceId } = yield* aDrop(everyKind)
      const { fields } = formOf(yield* get(lookOf(experienceId)), "Save")
      const typed = { ...fields, primary: "#123456", "text.en.enterQueue": "Step in" }
      const { data } = yield* brand("GET", `/distributions?experienceId=${experienceId}&type=queue`)
      const page = yield* send("POST", `${lookOf(experienceId)}/room?at=${data[0].id}&state=open`, typed)
      assert.include(page.text, "--primary:#123456")
      assert.include(textOf(page), "Step in")
      const { theme, i18n } = yield* brand("GET", `/experiences/${experienceId}`)
      assert.deepStrictEqual([theme, i18n], [null, null])
      // The form acts once, and showing it was no act.
      assert.strictEqual((yield* send("POST", lookOf(experienceId), typed)).status, 303)
      assert.strictEqual((yield* brand("GET", `/experiences/${experienceId}`)).theme.primary, "#123456")
    })
  )

  it.effect("shows no state of what is only for some, and says so", () =>
    Effect.gen(function* () {
      const { get } = yield* admin
      const { id: experienceId, sequences } = yield* aDrop({ ...everyKind, accessCode: "AURORA-31" })
      const frame = yield* get(`${lookOf(experienceId)}/room?at=${sequences[0].queues[0].id}&state=0`)
      assert.strictEqual(frame.status, 200)
      assert.include(textOf(frame), "Not everybody may see this")
      assert.include((yield* get(`${lookOf(experienceId)}/room`)).text, "Spring drop")
    })
  )

  it.effect("is read by viewers without its form, and never another organization's", () =>
    Effect.gen(function* () {
      const { id: experienceId } = yield* aDrop(everyKind)
      const viewer = yield* person("reads@example.com", "viewer")
      const page = yield* viewer.get(lookOf(experienceId))
      assert.include(page.text, "<iframe")
      assert.match(page.text, /<a href="[^"]*state=open"/)
      assert.notInclude(page.text, 'name="primary"')
      assert.strictEqual((yield* viewer.send("POST", lookOf(experienceId), {})).status, 403)
      assert.strictEqual((yield* viewer.send("POST", `${lookOf(experienceId)}/room`, {})).status, 403)
      const stranger = yield* operator
      yield* stranger.signIn((yield* Usher).stranger.secretKey)
      assert.strictEqual((yield* stranger.get(lookOf(experienceId))).status, 404)
      const frame = yield* stranger.get(`${lookOf(experienceId)}/room`)
      assert.strictEqual(frame.status, 404)
    })
  )
})
