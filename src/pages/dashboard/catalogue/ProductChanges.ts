/** The forms of one product. A refused one shows the product again, with what was typed and what is wrong. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { notFound } from "../../Refusal.ts"
import { type Call, type RefusedForm, type Refusing, refusing } from "../form/Refused.ts"
import { numberIn, textIn } from "../form/Typed.ts"
import { makeUpload } from "../form/Upload.ts"
import { asked, type Screen } from "../Frame.ts"
import { type Files, postFiles, type Reply, type Route } from "../Route.ts"
import { nameOfVariant, type ProductForm } from "./ProductScreen.ts"

type Api = AdminApiClient["Service"]
type Product = AdminAnswer<"products", "getProduct">
type Show = (operator: Operator, id: string, refused?: RefusedForm<ProductForm>) => Call<Screen>

export const path = "/dashboard/catalogue"

/** A sent form of a product. */
interface SentForm extends Refusing<ProductForm> {
  readonly operator: Operator
  readonly id: string
  readonly variantId: string
  readonly fields: URLSearchParams
  readonly files: Files
}

export const makeChanges = (api: Api, show: Show): ReadonlyArray<Route> => {
  const form = (name: "" | `/${string}`, run: (sent: SentForm) => Call<Reply>) =>
    postFiles(`/catalogue/:id${name}`, "operator", (operator, { params, fields, files }) => {
      const id = params["id"]!
      const variantId = params["variantId"] ?? ""
      if (params["variantId"] !== undefined && !isUuid(variantId)) return Effect.fail(notFound)
      return run({
        operator,
        id,
        variantId,
        fields,
        files,
        ...refusing<ProductForm>(fields, (refused) => show(operator, id, refused))
      })
    })
  return [
    form("", changeProduct(api)),
    form("/archive", archiveProduct(api)),
    form("/pictures", addPicture(api)),
    ...(["first", "later", "remove"] as const).map((move) => form(`/pictures/${move}`, movePicture(api, move))),
    form("/variants", addVariant(api)),
    form("/variants/:variantId", changeVariant(api)),
    form("/variants/:variantId/archive", archiveVariant(api)),
    form("/variants/:variantId/restore", restoreVariant(api))
  ]
}

const led = (id: string, done: string): Reply => ({ goTo: `${path}/${id}`, done })

const changeProduct =
  (api: Api) =>
  ({ operator, id, fields, orShown }: SentForm) => {
    const payload = {
      name: textIn(fields, "name") ?? "",
      url: textIn(fields, "url") ?? null,
      description: textIn(fields, "description") ?? null,
      ...(fields.has("defaultVariantId") && { defaultVariantId: textIn(fields, "defaultVariantId") ?? null })
    }
    return api
      .run(operator, "products", "changeProduct", { params: { id }, payload })
      .pipe(Effect.as(led(id, "The product was changed.")), orShown({ form: "product" }))
  }

const find = (api: Api, { operator, id }: SentForm) => api.run(operator, "products", "getProduct", { params: { id } })

const archiveProduct = (api: Api) =>
  Effect.fnUntraced(function* (sent: SentForm) {
    const { operator, id, fields } = sent
    const { name } = yield* find(api, sent)
    if (!fields.has("confirmed")) {
      return asked({
        title: `Archive ${isolated(name, "")}?`,
        says: "The product and its sizes leave the catalogue. The archive can restore them.",
        path: `${path}/${id}/archive`,
        back: `${path}/${id}`,
        button: "Archive",
        isHarmful: true
      })
    }
    yield* api.run(operator, "products", "archiveProduct", { params: { id } })
    return { goTo: "/dashboard/archive", done: `${isolated(name, "")} is archived. You can restore it here.` }
  })

const addPicture = (api: Api) => {
  const upload = makeUpload(api)
  return Effect.fnUntraced(function* (sent: SentForm) {
    const { operator, id, fields, refuse, orShown } = sent
    const problems = yield* upload(operator, sent, ["url"])
    if (problems.size > 0) return yield* refuse({ form: "picture", problems })
    const payload = { pictures: [{ url: textIn(fields, "url") ?? "", altText: textIn(fields, "altText") }] }
    return yield* api.run(operator, "products", "changeProduct", { params: { id }, payload }).pipe(
      Effect.as(led(id, "The picture was added.")),
      orShown({ form: "picture" }, (at) => at.at(-1))
    )
  })
}

/** The pictures of a product in another order, or without one. */
const moved = (media: Product["productMediaAssets"], use: string, move: "first" | "later" | "remove") => {
  const index = media.findIndex(({ id }) => id === use)
  const others = media.toSpliced(index, 1)
  if (move === "remove") return others
  return others.toSpliced(move === "first" ? 0 : index + 1, 0, media[index]!)
}

const movePicture = (api: Api, move: "first" | "later" | "remove") =>
  Effect.fnUntraced(function* (sent: SentForm) {
    const { operator, id, fields } = sent
    const { productMediaAssets: media } = yield* find(api, sent)
    const picture = media.find((one) => one.id === fields.get("use"))
    if (picture === undefined) return yield* notFound
    const shows = isolated(picture.mediaAsset.altText ?? picture.mediaAsset.name, "")
    if (move === "remove" && !fields.has("confirmed")) {
      return asked({
        title: `Remove picture ${media.indexOf(picture) + 1}?`,
        says: `Rooms no longer show this picture with the product: ${shows}.`,
        path: `${path}/${id}/pictures/remove`,
        back: `${path}/${id}`,
        button: "Remove",
        fields,
        isHarmful: true
      })
    }
    const productMediaAssets = moved(media, picture.id, move).map(({ mediaAssetId, purpose }) => ({
      mediaAssetId,
      purpose
    }))
    yield* api.run(operator, "products", "changeProduct", { params: { id }, payload: { productMediaAssets } })
    return led(id, move === "remove" ? "The picture was removed." : "The pictures are in another order.")
  })

/** The settings of a variant in a form; undefined settings keep their values. */
const settingsIn = (fields: URLSearchParams) => {
  const value = textIn(fields, "value")
  return {
    sku: textIn(fields, "sku") ?? null,
    price: textIn(fields, "price") ?? null,
    inventoryPolicy: fields.get("inventoryPolicy") ?? undefined,
    // A form without this field is of a variant with several options, which it keeps.
    ...(fields.has("value") && {
      options: value === undefined ? [] : [{ option: textIn(fields, "option") ?? "Size", value }]
    })
  }
}

const fieldOfVariant = (at: ReadonlyArray<string>): string | undefined =>
  at[0] === "options" ? (at.at(-1) === "option" ? "option" : "value") : at[0]

const addVariant =
  (api: Api) =>
  ({ operator, id, fields, orShown }: SentForm) => {
    const quantity = numberIn(fields, "inventoryQuantity")
    const payload = {
      productId: id,
      ...settingsIn(fields),
      ...(quantity !== undefined && { inventoryQuantity: quantity })
    }
    return api.run(operator, "variants", "createVariant", { payload }).pipe(
      Effect.map((made) => led(id, `${isolated(nameOfVariant(made), "")} was added.`)),
      orShown({ form: "newVariant" }, fieldOfVariant)
    )
  }

const changeVariant = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, id, variantId, fields, refuse, orShown }: SentForm) {
    const input = { params: { id: variantId } }
    const { productId, inventoryQuantity: now } = yield* api.run(operator, "variants", "getVariant", input)
    if (productId !== id) return yield* notFound
    const form = { form: "variant", id: variantId } as const
    const isCounted = textIn(fields, "inventoryQuantity") !== textIn(fields, "was")
    if (isCounted && `${now ?? ""}` !== fields.get("was")) {
      const problem = `Orders changed it meanwhile: there are ${now ?? 0} now. Type the number that is right.`
      fields.set("was", `${now ?? ""}`)
      return yield* refuse({ ...form, problems: new Map([["inventoryQuantity", problem]]) })
    }
    const payload = {
      ...settingsIn(fields),
      ...(isCounted && { inventoryQuantity: numberIn(fields, "inventoryQuantity") ?? null })
    }
    return yield* api.run(operator, "variants", "changeVariant", { ...input, payload }).pipe(
      Effect.map((changed) => led(id, `${isolated(nameOfVariant(changed), "")} was changed.`)),
      Effect.catchIf(
        ({ code }) => code === "VARIANT_IN_STOCK",
        () => refuse({ ...form, problems: new Map([["inventoryQuantity", countedInStock]]) })
      ),
      orShown(form, fieldOfVariant)
    )
  })

const countedInStock = "A stock counts these units. Correct the number there."

const archiveVariant = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, id, variantId, fields }: SentForm) {
    const input = { params: { id: variantId } }
    const name = isolated(nameOfVariant(yield* api.run(operator, "variants", "getVariant", input)), "")
    if (!fields.has("confirmed")) {
      return asked({
        title: `Archive ${name}?`,
        says: "It is no longer offered. It can be restored with its price and stock.",
        path: `${path}/${id}/variants/${variantId}/archive`,
        back: `${path}/${id}`,
        button: "Archive",
        isHarmful: true
      })
    }
    yield* api.run(operator, "variants", "archiveVariant", input)
    return led(id, `${name} is archived. You can restore it below.`)
  })

const restoreVariant =
  (api: Api) =>
  ({ operator, id, variantId }: SentForm) =>
    Effect.map(api.run(operator, "variants", "restoreVariant", { params: { id: variantId } }), (restored) =>
      led(id, `${isolated(nameOfVariant(restored), "")} is restored.`)
    )
