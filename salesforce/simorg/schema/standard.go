package schema

// systemFields are the fields that every object has, in slot order: Id first.
func systemFields(name *Field, owned bool) []*Field {
	readOnly := func(name, label string, t Type) *Field {
		return &Field{Name: name, Label: label, Type: t, Required: true, Length: traits[t].length}
	}
	user := func(name, label, parent string) *Field {
		f := readOnly(name, label, Lookup)
		f.ReferenceTo, f.Parent, f.OnDelete = []string{"User"}, parent, Restrict
		return f
	}
	fields := []*Field{
		readOnly("Id", "Record ID", ID),
		readOnly("IsDeleted", "Deleted", Checkbox),
		name,
		readOnly("CreatedDate", "Created Date", DateTime),
		user("CreatedById", "Created By ID", "CreatedBy"),
		readOnly("LastModifiedDate", "Last Modified Date", DateTime),
		user("LastModifiedById", "Last Modified By ID", "LastModifiedBy"),
		readOnly("SystemModstamp", "System Modstamp", DateTime),
	}
	if owned {
		owner := user("OwnerId", "Owner ID", "Owner")
		owner.Createable, owner.Updateable = true, true
		fields = append(fields, owner)
	}
	return fields
}

// text makes a writable text field of a standard object.
func text(name, label string, length int) *Field {
	return &Field{Name: name, Label: label, Type: Text, Length: length, Createable: true, Updateable: true}
}

// plain makes a writable field of a type without settings.
func plain(name, label string, t Type) *Field {
	f := text(name, label, traits[t].length)
	f.Type = t
	return f
}

func long(name, label string) *Field {
	f := plain(name, label, LongTextArea)
	f.Length = 32000
	return f
}

func number(name, label string, precision, scale int) *Field {
	f := plain(name, label, Number)
	f.Precision, f.Scale = precision, scale
	return f
}

func picklist(name, label string, values ...string) *Field {
	f := plain(name, label, Picklist)
	for _, v := range values {
		f.Picklist = append(f.Picklist, PicklistValue{Value: v, Label: v, Active: true})
	}
	return f
}

func lookup(name, label, parent, child string, to ...string) *Field {
	f := plain(name, label, Lookup)
	f.ReferenceTo, f.Parent, f.ChildName, f.OnDelete = to, parent, child, SetNull
	return f
}

func required(f *Field) *Field {
	f.Required = true
	return f
}

// derived is a field the org fills itself.
func derived(f *Field) *Field {
	f.Createable, f.Updateable = false, false
	return f
}

// standardObjects are the few that clients and users can't do without. The
// Name of contacts and users is made of first and last name by the org.
func standardObjects() []*Object {
	return []*Object{account(), caseObject(), contact(), organization(), task(), user()}
}

func account() *Object {
	return standard("Account", "001", required(text("Name", "Account Name", 255)), true,
		text("AccountNumber", "Account Number", 40),
		picklist("Type", "Account Type", "Prospect", "Customer - Direct", "Customer - Channel", "Other"),
		picklist("Industry", "Industry", "Banking", "Education", "Energy", "Other", "Technology"),
		plain("Phone", "Account Phone", Phone),
		plain("Website", "Website", URL),
		number("AnnualRevenue", "Annual Revenue", 18, 0),
		number("NumberOfEmployees", "Employees", 8, 0),
		long("Description", "Account Description"),
		lookup("ParentId", "Parent Account ID", "Parent", "ChildAccounts", "Account"),
	)
}

func caseObject() *Object {
	return standard("Case", "500", nil, true,
		derived(text("CaseNumber", "Case Number", 30)),
		text("Subject", "Subject", 255),
		long("Description", "Description"),
		picklist("Status", "Status", "New", "Working", "Escalated", "Closed"),
		picklist("Origin", "Case Origin", "Phone", "Email", "Web"),
		picklist("Priority", "Priority", "High", "Medium", "Low"),
		picklist("Type", "Case Type", "Problem", "Feature Request", "Question"),
		text("SuppliedName", "Web Name", 80),
		plain("SuppliedEmail", "Web Email", Email),
		lookup("AccountId", "Account ID", "Account", "Cases", "Account"),
		lookup("ContactId", "Contact ID", "Contact", "Cases", "Contact"),
	)
}

func contact() *Object {
	return standard("Contact", "003", derived(text("Name", "Full Name", 121)), true,
		text("FirstName", "First Name", 40),
		required(text("LastName", "Last Name", 80)),
		plain("Email", "Email", Email),
		plain("Phone", "Business Phone", Phone),
		text("Title", "Title", 128),
		plain("Birthdate", "Birthdate", Date),
		long("Description", "Contact Description"),
		lookup("AccountId", "Account ID", "Account", "Contacts", "Account"),
	)
}

func organization() *Object {
	return standard("Organization", "00D", derived(text("Name", "Name", 80)), false,
		derived(text("OrganizationType", "Edition", 40)),
		derived(text("InstanceName", "Instance Name", 5)),
		derived(plain("IsSandbox", "Is Sandbox", Checkbox)),
		derived(text("NamespacePrefix", "Namespace Prefix", 15)),
		derived(plain("TrialExpirationDate", "Trial Expiration Date", DateTime)),
		derived(text("DefaultLocaleSidKey", "Locale", 40)),
		derived(text("LanguageLocaleKey", "Language", 40)),
		derived(text("TimeZoneSidKey", "Time Zone", 40)),
	)
}

func task() *Object {
	return standard("Task", "00T", nil, true,
		text("Subject", "Subject", 255),
		picklist("Status", "Status", "Not Started", "In Progress", "Completed", "Waiting on someone else", "Deferred"),
		picklist("Priority", "Priority", "High", "Normal", "Low"),
		plain("ActivityDate", "Due Date Only", Date),
		long("Description", "Description"),
		lookup("WhoId", "Name ID", "Who", "Tasks", "Contact"),
		lookup("WhatId", "Related To ID", "What", "Tasks", "Account"),
	)
}

func user() *Object {
	return standard("User", "005", derived(text("Name", "Full Name", 121)), false,
		required(text("Username", "Username", 80)),
		text("FirstName", "First Name", 40),
		required(text("LastName", "Last Name", 80)),
		required(plain("Email", "Email", Email)),
		required(text("Alias", "Alias", 8)),
		plain("IsActive", "Active", Checkbox),
		text("LocaleSidKey", "Locale", 40),
		text("LanguageLocaleKey", "Language", 40),
		text("TimeZoneSidKey", "Time Zone", 40),
	)
}

func standard(name, prefix string, nameField *Field, owned bool, fields ...*Field) *Object {
	o := &Object{Name: name, Label: name, PluralLabel: name + "s", KeyPrefix: prefix}
	for _, f := range systemFields(nameField, owned) {
		if f != nil {
			o.Fields = append(o.Fields, f)
		}
	}
	o.Fields = append(o.Fields, fields...)
	return o
}
