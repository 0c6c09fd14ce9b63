ALTER TABLE `collections` RENAME TO `datasets`;--> statement-breakpoint
ALTER TABLE `integrations` RENAME COLUMN `collection` TO `dataset`;--> statement-breakpoint
ALTER TABLE `subscribers` RENAME COLUMN `collection` TO `dataset`;--> statement-breakpoint
ALTER TABLE `workflows` RENAME COLUMN `collection` TO `dataset`;--> statement-breakpoint
ALTER TABLE `workflow_steps` RENAME COLUMN `collection` TO `dataset`;--> statement-breakpoint
ALTER TABLE `messages` RENAME COLUMN `collection` TO `dataset`;--> statement-breakpoint
ALTER TABLE `idempotency_keys` RENAME COLUMN `collection` TO `dataset`;