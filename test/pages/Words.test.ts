import { assert, describe, it } from "@effect/vitest"
import { formatsOf } from "../../src/pages/Formats.ts"
import { html, trusted } from "../../src/pages/Html.ts"
import {
  type CountedKey,
  directionOf,
  filled,
  type Forms,
  formFor,
  type Language,
  languageOf,
  languages,
  otherAddress,
  placeholdersIn,
  wordsIn
} from "../../src/pages/Words.ts"

const all = Object.keys(languages) as ReadonlyArray<Language>
const en = wordsIn("en")

/** The highest number that pages show with each counted text. Later numbers of a language have no further form. */
const counted: { readonly [Key in CountedKey]: number } = {
  queueRate: 1_000,
  queuePace: 1_000,
  continueSoon: 10,
  ahead: 1_000
}

/** The general form of a text first, then its others. */
const formsOf = (text: string | Forms): ReadonlyArray<string> =>
  typeof text === "string" ? [text] : [text.other, ...Object.values(text)]

/** The text of a rate of one. */
const atRateOne: { readonly [Name in Language]: string } = {
  en: "1 person is admitted per minute, in order of arrival.",
  de: "Jede Minute wird 1 Person zugelassen, in der Reihenfolge der Ankunft.",
  fr: "1 personne est admise chaque minute, dans l’ordre d’arrivée.",
  es: "Se admite a 1 persona por minuto, por orden de llegada.",
  it: "Ogni minuto viene ammessa 1 persona, in ordine di arrivo.",
  "pt-BR": "É admitida 1 pessoa por minuto, por ordem de chegada.",
  nl: "Er wordt 1 persoon per minuut toegelaten, in volgorde van aankomst.",
  pl: "Co minutę wpuszczana jest 1 osoba, w kolejności przybycia.",
  tr: "Her dakika 1 kişi geliş sırasına göre alınır.",
  id: "1 orang diterima setiap menit, sesuai urutan kedatangan.",
  ja: "先着順に、毎分 1 人が入場します。",
  ko: "도착한 순서대로 1분에 1명이 입장합니다.",
  "zh-Hans": "按到达顺序，每分钟放行 1 人。",
  "zh-Hant": "依到達順序，每分鐘放行 1 人。",
  ar: "يُقبل شخص واحد كل دقيقة حسب ترتيب الوصول.",
  he: "אדם אחד נכנס בכל דקה, לפי סדר ההגעה."
}

/** Words that address a person in a form. None of them may stand in the texts of the other form. */
const addressed: { readonly [form: string]: RegExp } = {
  "de informal": /(?<!\p{L})(?:du|dich|dir|dein\p{L}*)(?!\p{L})/iu,
  "nl informal": /(?<!\p{L})(?:je|jij|jou|jouw)(?!\p{L})/iu,
  "es informal": /(?<!\p{L})(?:tu|tus|ti|tú)(?!\p{L})/iu,
  "fr formal": /(?<!rendez-)(?<!\p{L})(?:vous|votre|vos|vôtre)(?!\p{L})/iu
}

describe("The words of pages", () => {
  it("exist in sixteen languages, with the same placeholders and no markup", () => {
    assert.lengthOf(all, 16)
    for (const language of all) {
      const words = wordsIn(language)
      assert.sameMembers(Object.keys(words), Object.keys(en), language)
      for (const [key, text] of Object.entries(words)) {
        const [general, ...forms] = formsOf(text)
        const known = placeholdersIn(formFor(en[key as keyof typeof en]))
        assert.sameMembers([...placeholdersIn(general!)], [...known], `${language} ${key}`)
        // A form for a single number may have that number as a word.
        for (const form of forms) assert.includeMembers([...known], [...placeholdersIn(form)], `${language} ${key}`)
        for (const form of formsOf(text)) assert.notMatch(form, /[<>&]|^\s|\s$|^$/, `${language} ${key}`)
      }
    }
  })

  it("address formally and informally where a language has both, in the same texts", () => {
    assert.sameMembers(Object.keys(otherAddress), ["de", "es", "fr", "nl"])
    for (const [name, { own, words }] of Object.entries(otherAddress)) {
      const language = name as Language
      const [mine, other] = [wordsIn(language), wordsIn(language, null, own === "formal" ? "informal" : "formal")]
      assert.deepStrictEqual(wordsIn(language, null, own), mine)
      assert.isAbove(Object.keys(words).length, 60, language)
      for (const [key, text] of Object.entries(words) as ReadonlyArray<[keyof typeof en, string | Forms]>) {
        assert.notDeepEqual(text, mine[key], `${language} ${key} is the same`)
        assert.sameMembers(
          typeof text === "string" ? [] : Object.keys(text),
          typeof mine[key] === "string" ? [] : Object.keys(mine[key]),
          key
        )
        assert.sameMembers(
          [...placeholdersIn(formFor(text))],
          [...placeholdersIn(formFor(mine[key]))],
          `${language} ${key}`
        )
      }
      for (const [key, text] of Object.entries(other)) {
        for (const form of formsOf(text)) assert.notMatch(form, addressed[`${language} ${own}`]!, `${language} ${key}`)
      }
    }
    assert.strictEqual(wordsIn("en", null, "formal"), wordsIn("en"))
    assert.strictEqual(wordsIn("de", { de: { granted: "Jetzt" } }, "formal").granted, "Jetzt")
  })

  it("have a form for each number, or one for all", () => {
    for (const language of all) {
      for (const [key, most] of Object.entries(counted)) {
        const forms = wordsIn(language)[key as CountedKey]
        if (typeof forms === "string") continue
        const rules = new Intl.PluralRules(language)
        const needed = Array.from({ length: most }, (_, index) => rules.select(index + 1))
        assert.includeMembers(["other", ...Object.keys(forms)], needed, `${language} ${key}`)
        assert.includeMembers(rules.resolvedOptions().pluralCategories, Object.keys(forms), `${language} ${key}`)
      }
    }
  })

  it("have the form of their number", () => {
    const rate = (language: Language, count: number) =>
      filled(formFor(wordsIn(language).queueRate, language, count), { count })
    for (const language of all) assert.strictEqual(rate(language, 1), atRateOne[language])
    assert.match(rate("en", 60), /^60 people are admitted/)
    assert.match(rate("fr", 2), /^2 personnes sont admises/)
    assert.match(rate("pl", 3), /wpuszczane są 3 osoby/)
    assert.match(rate("pl", 12), /wpuszczanych jest 12 osób/)
    assert.match(rate("he", 2), /^שני אנשים/)
    assert.match(rate("ar", 2), /شخصان/)
    assert.match(rate("ar", 5), /5 أشخاص/)
    assert.match(rate("ar", 60), /60 شخصًا/)
    assert.match(rate("ar", 100), /100 شخص /)
  })

  it("differ from English in every other language", () => {
    for (const language of all.filter((name) => name !== "en")) {
      const same = Object.entries(wordsIn(language)).filter(([key, text]) => en[key as keyof typeof en] === text)
      assert.isBelow(same.length, 5, language)
    }
  })

  it("can be replaced by an experience, unless a placeholder is foreign", () => {
    assert.strictEqual(wordsIn("de", { de: { queueRate: "{count}!" } }).queueRate, "{count}!")
    assert.notStrictEqual(wordsIn("de", { de: { queueRate: "{rate}!" } }).queueRate, "{rate}!")
    const i18n = { de: { queued: "Da bist du", position: "{secret}", unknown: "x", waitlist: 1 }, fr: "x" }
    const words = wordsIn("de", i18n)
    assert.strictEqual(words.queued, "Da bist du")
    assert.strictEqual(words.position, wordsIn("de").position)
    assert.strictEqual(words.waitlist, wordsIn("de").waitlist)
    assert.notProperty(words, "unknown")
    assert.strictEqual(wordsIn("fr", i18n), wordsIn("fr"))
  })

  it("are chosen by the address, else by the browser's order of languages", () => {
    const cases: ReadonlyArray<readonly [string | null, string | undefined, Language]> = [
      [null, undefined, "en"],
      ["fr", "de", "fr"],
      ["xx", "de", "de"],
      [null, "xx, de;q=0.3, ja;q=0.8", "ja"],
      [null, "de;q=0, fr", "fr"],
      [null, "de ; Q=0.3, fr; q=0.4", "fr"],
      [null, "pt-PT", "pt-BR"],
      [null, "zh-CN", "zh-Hans"],
      [null, "zh-TW", "zh-Hant"],
      [null, "ZH-hant-hk", "zh-Hant"],
      [null, "*;q=0.1, , ;;;, he-IL", "he"],
      [null, `${"x,".repeat(10_000)}de`, "en"]
    ]
    for (const [named, accepted, expected] of cases) assert.strictEqual(languageOf(named, accepted), expected, accepted)
    assert.deepStrictEqual(
      all.filter((language) => directionOf(language) === "rtl"),
      ["ar", "he"]
    )
  })

  it("is found by older forms of its tag, with other separators, and as operating systems write it", () => {
    for (const [tag, expected] of [
      ["iw", "he"],
      ["iw-IL", "he"],
      ["IW_il", "he"],
      ["heb", "he"],
      ["in", "id"],
      ["in-ID", "id"],
      ["in_ID", "id"],
      ["de_DE", "de"],
      ["de_DE.UTF-8", "de"],
      ["de_AT@euro", "de"],
      ["deu", "de"],
      ["pt_PT", "pt-BR"],
      ["zh_TW", "zh-Hant"],
      ["zh_CN", "zh-Hans"],
      ["zh-CN", "zh-Hans"],
      ["zh_Hant_HK", "zh-Hant"],
      ["zh_Hans_TW", "zh-Hans"],
      ["zh_MO", "zh-Hant"],
      ["zh-SG", "zh-Hans"],
      ["cmn-Hans-CN", "zh-Hans"],
      ["cmn-Hant-TW", "zh-Hant"],
      ["cmn", "zh-Hans"],
      [" fr_CA ", "fr"]
    ] as const) {
      assert.strictEqual(languageOf(tag, undefined), expected, tag)
      assert.strictEqual(languageOf(null, `${tag};q=0.9, en;q=0.1`), expected, tag)
    }
    // There are no words in these, so the next wish counts.
    for (const tag of [
      "no",
      "nb_NO",
      "ji",
      "yi",
      "mo",
      "C",
      "POSIX",
      "*",
      "",
      "-",
      "x-pig",
      "de__DE",
      "d",
      "zz".repeat(30)
    ]) {
      assert.strictEqual(languageOf(tag, `${tag},tr`), "tr", tag)
    }
  })

  it("keep a placeholder without a value", () => {
    assert.strictEqual(filled("{a} and {b}", { a: 1 }), "1 and {b}")
  })
})

describe("HTML", () => {
  it("escapes everything that is inserted, but for other HTML", () => {
    const page = html
    const made = page`<a title="${`"'<>&`}">${["<b>", page`<i>${"<"}</i>`, trusted("<hr>"), 1, false, null, undefined]}</a>`
    assert.strictEqual(made.text, '<a title="&quot;&#39;&lt;&gt;&amp;">&lt;b&gt;<i>&lt;</i><hr>1</a>')
  })
})

describe("Formats", () => {
  it("write numbers, amounts, instants and durations as the language does", () => {
    const german = formatsOf("de", "Europe/Berlin")
    const at = Date.UTC(2026, 10, 21, 17, 0)
    assert.strictEqual(german.number(12_408), "12.408")
    assert.strictEqual(german.amount("49.90", "EUR"), "49,90\u00a0€")
    assert.strictEqual(german.amount("0.12345678", "EUR"), "0,12345678\u00a0€")
    assert.deepStrictEqual(
      ["EUR", "JPY", "KWD", "COP", "IDR", "IQD"].map((currency) => german.amount("1500", currency)),
      [
        "1.500,00\u00a0€",
        "1.500\u00a0¥",
        "1.500,000\u00a0KWD",
        "1.500,00\u00a0COP",
        "1.500,00\u00a0IDR",
        "1.500,000\u00a0IQD"
      ]
    )
    assert.deepStrictEqual(
      ["en", "de", "fr", "ja"].map((language) => formatsOf(language, "UTC").plainAmount("1500.5", "EUR")),
      ["1500.50", "1500,50", "1500,50", "1500.50"]
    )
    assert.strictEqual(formatsOf("en", "UTC").amount("999999999999.99", "USD"), "$999,999,999,999.99")
    assert.strictEqual(german.instant(at), "21. November 2026 um 18:00")
    assert.strictEqual(german.time(at, "UTC"), "17:00")
    assert.deepStrictEqual([1, 59, 60, 90, 5_399, 7_200].map(german.duration), [
      "1 Sekunde",
      "59 Sekunden",
      "1 Minute",
      "2 Minuten",
      "1,5 Stunden",
      "2 Stunden"
    ])
    assert.strictEqual(formatsOf("en", "Not/AZone").time(at), "5:00 PM")
  })
})
