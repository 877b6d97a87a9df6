import { assert, describe, it } from "@effect/vitest"
import { alertMessage } from "../../src/delivery/AlertMessage.ts"
import { alertLanguages, alertWordsOf } from "../../src/delivery/AlertWords.ts"
import { languages } from "../../src/pages/Words.ts"
import type { DueAlert } from "../../src/store/message/Alerts.ts"

const links = { roomUrl: "https://drops.example/e/1", endUrl: "https://drops.example/e/1/alert?token=t" }

const alert: DueAlert = {
  tenant: { organizationId: "o", mode: "live" },
  topic: "REMINDER",
  subjectId: "s",
  consumerId: "c",
  experienceId: "1",
  organizationName: "Maison\nAurore",
  name: "Aurora 1",
  timeZone: "Europe/Paris",
  language: "en",
  email: "ada@example.com",
  at: Date.UTC(2027, 2, 1, 17),
  attempts: 0
}

describe("An email that a consumer has asked for", () => {
  it("exists in every language of rooms, and in English for others", () => {
    assert.sameMembers([...alertLanguages], Object.keys(languages))
    for (const [language, words] of [
      ["pt-PT", "pt-BR"],
      ["zh-TW", "zh-Hant"],
      ["zh", "zh-Hans"],
      ["de-AT", "de"],
      ["sv", "en"]
    ] as const) {
      assert.strictEqual(alertWordsOf(language).language, words)
    }
    for (const language of alertLanguages) {
      const { opens, ...others } = alertWordsOf(language)
      assert.include(opens, "{time}", language)
      for (const text of Object.values(others)) assert.notMatch(text, /[{}\n]|^$/, language)
    }
  })

  it("begins with the brand on one line, says when in the zone of the drop, and ends with the way to stop it", () => {
    const { subject, text, endUrl, id, channel, purpose } = alertMessage(alert, links)
    assert.match(subject, /^Maison Aurore: Opens Monday, March 1.* 6:00 PM GMT\+1 – Aurora 1$/)
    assert.isTrue(text.trimEnd().endsWith(`Stop these emails: ${links.endUrl}`))
    assert.include(text, `Go to the page: ${links.roomUrl}`)
    assert.deepStrictEqual([endUrl, channel, purpose], [links.endUrl, "email", "REMINDER"])
    // A repetition has the same id, and another lost lead another one.
    assert.strictEqual(id, `s.c.${alert.at}`)
    const lost = alertMessage({ ...alert, topic: "OUTBID", language: "de" }, links)
    assert.strictEqual(lost.subject, "Maison Aurore: Es gibt ein höheres Gebot – Aurora 1")
  })
})
