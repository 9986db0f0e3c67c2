trigger InboundEventTrigger on Inbound_Event__c(after insert) {
  BridgeDispatcher.afterInsert(Trigger.new);
}
