/** The Admin API: the operations of an organization's server. Every operation takes the secret key. */
import { HttpApi } from "effect/http-api"
import { AdminKey } from "../Credentials.ts"
import { IgnoredFields } from "../IgnoredFields.ts"
import { onEveryPost } from "../Idempotency.ts"
import { Validation } from "../Validation.ts"
import { describe } from "../OpenApi.ts"
import { AnalyticsApi } from "./AnalyticsApi.ts"
import { ApiKeyApi } from "./ApiKeyApi.ts"
import { AuditLogApi } from "./AuditLogApi.ts"
import { AudienceApi } from "./AudienceApi.ts"
import { ConsumersApi } from "./ConsumersApi.ts"
import { DistributionApi } from "./DistributionApi.ts"
import { kindGroups } from "./KindsApi.ts"
import { ExperienceApi } from "./ExperienceApi.ts"
import { GateApi } from "./GateApi.ts"
import { NodeApi } from "./NodeApi.ts"
import { OrganizationApi } from "./OrganizationApi.ts"
import { MessageApi } from "./MessageApi.ts"
import { MediaAssetApi } from "./MediaAssetApi.ts"
import { OrderApi } from "./OrderApi.ts"
import { ExperiencePageApi } from "./ExperiencePageApi.ts"
import { FontApi } from "./FontApi.ts"
import { PictureApi } from "./PictureApi.ts"
import { PeopleApi } from "./PeopleApi.ts"
import { OutboxApi } from "./OutboxApi.ts"
import { ProductApi } from "./ProductApi.ts"
import { ReceiverApi } from "./ReceiverApi.ts"
import { RehearsalApi } from "./RehearsalApi.ts"
import { SecurityEventApi } from "./SecurityEventApi.ts"
import { SequenceApi } from "./SequenceApi.ts"
import { StockApi } from "./StockApi.ts"
import { SyncSourceApi } from "./SyncSourceApi.ts"
import { TestClockApi } from "./TestClockApi.ts"
import { VariantApi } from "./VariantApi.ts"
import { VariantOptionApi } from "./VariantOptionApi.ts"
import { WebhookApi, describedWebhooks } from "./WebhookApi.ts"

export const AdminApi = describe(
  HttpApi.make("admin")
    .add(OrganizationApi)
    .add(ApiKeyApi)
    .add(ExperienceApi)
    .add(ExperiencePageApi)
    .add(SequenceApi)
    .add(AudienceApi)
    .add(ConsumersApi)
    .add(...kindGroups)
    .add(DistributionApi)
    .add(ProductApi)
    .add(VariantApi)
    .add(MediaAssetApi)
    .add(PictureApi)
    .add(FontApi)
    .add(SyncSourceApi)
    .add(VariantOptionApi)
    .add(StockApi)
    .add(OrderApi)
    .add(AnalyticsApi)
    .add(WebhookApi)
    .add(AuditLogApi)
    .add(ReceiverApi)
    .add(GateApi)
    .add(MessageApi)
    .add(PeopleApi)
    .add(SecurityEventApi)
    .add(NodeApi)
    .add(OutboxApi)
    .add(TestClockApi)
    .add(RehearsalApi)
    .prefix("/api")
    .middleware(Validation)
    .pipe(onEveryPost)
    .middleware(IgnoredFields)
    .middleware(AdminKey),
  {
    title: "Usher Admin API",
    description:
      "For an organization's server: experiences, their sequences, the mechanisms that release products to consumers, " +
      "and what happens in them. Every operation needs the secret key. Every response carries `X-RateLimit-Limit`, " +
      "`X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds). They describe the limit with the least " +
      "remaining; on a 429, the limit that refused the request. Fields of a body that an operation does not know are " +
      "ignored, and named in `X-Ignored-Fields`.",
    webhooks: describedWebhooks
  }
)
