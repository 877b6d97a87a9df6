/** `npm run check:api`: exits with 0 only if the descriptions of both APIs follow the rules in `.ci/redocly.yaml`. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../src/http/admin/Api.ts"
import { ConsumerApi } from "../../src/http/consumer/Api.ts"
import { lint } from "./rules/descriptions.ts"

const { isClean, problems } = lint({
  consumer: OpenApi.fromApi(ConsumerApi),
  admin: OpenApi.fromApi(AdminApi)
})
process.stdout.write(problems)
process.exitCode = isClean ? 0 : 1
